// URI templates (RFC 6570, without modifiers) in CSV on the Web metadata: expanded, with known prefixes, and resolved.
// Pure.
import { isIri } from '../../rdf/graph.js'
import * as vocabulary from '../../rdf/vocabulary.js'

/**
 * By operator: the text before the values and between them, whether they are named, whether reserved characters stay.
 */
const OPERATORS: Readonly<
  Record<string, readonly [first: string, between: string, isNamed: boolean, isOpen: boolean]>
> = {
  '': ['', ',', false, false],
  '+': ['', ',', false, true],
  '#': ['#', ',', false, true],
  '.': ['.', '.', false, false],
  '/': ['/', '/', false, false],
  ';': [';', ';', true, false],
  '?': ['?', '&', true, false],
  '&': ['&', '&', true, false],
}
const EXPRESSION = /\{([+#./;?&]?)([^{}]*)\}/g
const NAMES = /^[\w.%]+(?:,[\w.%]+)*$/

export const isUriTemplate = (text: string): boolean =>
  [...text.matchAll(EXPRESSION)].every(([, , names]) => NAMES.test(names!)) &&
  !/[{}]/.test(text.replace(EXPRESSION, ''))

export interface Template {
  readonly text: string
  /** Undefined if the result is not an IRI. @param valueOf one value or several */
  expand(valueOf: (name: string) => string | readonly string[] | undefined): string | undefined
}

/** In characters: a longer IRI is a mistake, and would be repeated for each row. */
const LONGEST_IRI = 8192

/** @param base for relative references */
export const makeTemplate = (text: string | undefined, base: string): Template | undefined =>
  text === undefined ? undefined : { text, expand: (valueOf) => expanded(text, valueOf, base) }

function expanded(template: string, valueOf: Parameters<Template['expand']>[0], base: string): string | undefined {
  let length = 0
  const text = template.replace(EXPRESSION, (_, operator: string, names: string) => {
    const [first, between, isNamed, isOpen] = OPERATORS[operator]!
    const values = names.split(',').flatMap((name) => {
      const value = valueOf(name)
      if (value === undefined) return []
      const all = [value].flat()
      length += all.reduce((sum, one) => sum + one.length, 0)
      if (length > LONGEST_IRI) return []
      // RFC 6570 §2.4.2: a comma that separates values is not part of one.
      const written = all.map(isOpen ? openEncoded : encoded).join(',')
      return [isNamed ? `${name}${written === '' && operator === ';' ? '' : '='}${written}` : written]
    })
    return values.length === 0 ? '' : first + values.join(between)
  })
  return length > LONGEST_IRI ? undefined : resolved(text, base)
}

const encoded = (value: string): string =>
  encodeURIComponent(value.toWellFormed()).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`) // prettier-ignore

const openEncoded = (value: string): string => encodeURI(value.toWellFormed()).replace(/%25([0-9a-f]{2})/gi, '%$1')

/** The prefixes of the CSV on the Web context that tables use; `dc` means other terms there than elsewhere. */
export const TEMPLATE_PREFIXES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['dcat', 'dct', 'foaf', 'gr', 'org', 'owl', 'prov', 'qb', 'rdf', 'rdfs', 'schema', 'sioc', 'skos', 'time', 'vcard', 'void', 'xsd'].map((prefix) => [prefix, vocabulary.PREFIXES[prefix]!]), // prettier-ignore
  ),
  ...{ csvw: 'http://www.w3.org/ns/csvw#', dc: vocabulary.DCT(''), dcterms: vocabulary.DCT('') },
  dc11: vocabulary.PREFIXES['dc']!,
}

function resolved(text: string, base: string): string | undefined {
  const [, prefix, rest] = /^([a-z][a-z0-9]*):(?!\/\/)(.*)$/i.exec(text) ?? []
  const namespace =
    prefix !== undefined && Object.hasOwn(TEMPLATE_PREFIXES, prefix) ? TEMPLATE_PREFIXES[prefix]! + rest! : text
  const isAbsolute = /^[a-z][a-z0-9+.-]*:/i.test(namespace)
  const whole = isAbsolute ? namespace : URL.canParse(namespace, base) ? new URL(namespace, base).href : undefined
  return whole !== undefined && whole.length <= LONGEST_IRI && isIri(whole) ? whole : undefined
}
