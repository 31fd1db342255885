// The settings of a dataspace that its owner may change (LinkedDataHub 1.2). They come from the configuration or, after
// a change, from a file of the data folder, which is written as a whole.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeWhole } from '../files/whole-file.js'
import { problem, type Problem } from '../problem.js'
import { graphOf, iri, nTriplesOf, text, triple, typed, type Quad } from '../rdf/graph.js'
import { readNTriples } from '../rdf/read.js'
import { AC, DCT, LAPP, LDS, RDF, XSD } from '../rdf/vocabulary.js'
import type { DescribedApplication } from './dataspace.js'

export interface SiteDescription {
  readonly title?: string
  readonly description?: string
  /** The stylesheet. Only recorded for clients. */
  readonly stylesheet?: string
  readonly allowRead: boolean
}

export interface OwnDescription {
  current(): SiteDescription
  /** The change is durable when this returns. */
  put(next: SiteDescription): undefined | Problem
}

type Named = Pick<DescribedApplication, 'iri' | 'base' | 'kind'>

/** Throws if the file of an earlier change cannot be read, so that the change is not lost. */
export function openOwnDescription(application: DescribedApplication, data: string): OwnDescription {
  const name = createHash('sha256').update(application.base).digest('hex').slice(0, 16)
  const file = join(data, 'settings', `${name}.nt`)
  const { title, stylesheet, allowRead } = application
  let current: SiteDescription = {
    allowRead,
    ...(title !== undefined && { title }),
    ...(stylesheet !== undefined && { stylesheet }),
  }
  if (existsSync(file)) {
    const stored = readDescription(application, readNTriples(readFileSync(file, 'utf8')) ?? [])
    if (!('allowRead' in stored)) throw new Error(`${file}: ${stored.map(([, message]) => message).join(' ')}`)
    current = stored
  }
  return {
    current: () => current,
    put(next) {
      try {
        writeWhole(file, nTriplesOf(graphOf(describedTriples(application, next))))
      } catch (error) {
        return problem('files.failed', `The settings cannot be stored (${(error as NodeJS.ErrnoException).code}).`)
      }
      current = next
      return undefined
    },
  }
}

/** The terms of LinkedDataHub 5.6 and, with the same meaning, those of older configurations. */
const TYPES = {
  'end-user': [LDS('EndUserDataspace'), LAPP('EndUserApplication')],
  admin: [LDS('AdminDataspace'), LAPP('AdminApplication')],
} as const
const ALLOW_READ = [LDS('allowRead'), LAPP('allowRead')] as const

const fixed = ({ iri: subject, base, kind }: Named): Quad[] => [
  ...TYPES[kind].map((type) => triple(subject, RDF('type'), iri(type))),
  ...[LDS('origin'), LAPP('origin')].map((property) => triple(subject, property, iri(base.replace(/\/$/, '')))),
]

export const describedTriples = (
  application: Named,
  { title, description, stylesheet, allowRead }: SiteDescription,
): Quad[] => [
  ...fixed(application),
  ...(title === undefined ? [] : [triple(application.iri, DCT('title'), text(title))]),
  ...(description === undefined ? [] : [triple(application.iri, DCT('description'), text(description))]),
  ...(stylesheet === undefined ? [] : [triple(application.iri, AC('stylesheet'), iri(stylesheet))]),
  ...ALLOW_READ.map((property) => triple(application.iri, property, typed(String(allowRead), XSD('boolean')))),
]

/** A property, and the problem with it. */
type Mistake = readonly [property: string, message: string]

const LONGEST = 10_000

/**
 * Reports all mistakes at once, each as a sentence.
 * @param before the description before a change: if a setting has two terms, the changed one counts. Undefined for the
 * stored file, which may come from an earlier release
 */
export function readDescription(
  application: Named,
  triples: readonly Quad[],
  before?: SiteDescription,
): SiteDescription | readonly Mistake[] {
  const mistakes: Mistake[] = []
  const own = new Map<string, Quad['object'][]>()
  for (const { subject, predicate, object } of triples) {
    if (subject.value !== application.iri)
      mistakes.push([predicate.value, `Settings may only be about <${application.iri}>, not about ${subject.value}.`])
    else own.set(predicate.value, [...(own.get(predicate.value) ?? []), object])
  }
  const one = (property: string, isRight: (term: Quad['object']) => boolean, wanted: string): string | undefined => {
    const [value, another] = own.get(property) ?? []
    own.delete(property)
    if (value === undefined) return undefined
    if (another || !isRight(value)) mistakes.push([property, `<${property}> takes ${wanted}.`])
    return value.value
  }
  const expected = fixed(application)
  for (const property of new Set(expected.map(({ predicate }) => predicate.value))) {
    const wanted = expected.filter(({ predicate }) => predicate.value === property).map(({ object }) => object)
    const given = own.get(property) ?? []
    own.delete(property)
    if (before && !wanted.every((term) => given.some((value) => value.equals(term))))
      mistakes.push([property, `<${property}> cannot be removed.`])
    if (!given.every((value) => wanted.some((term) => value.equals(term))))
      mistakes.push([property, `<${property}> must be <${wanted[0]!.value}> and cannot be changed.`])
  }
  const isText = ({ termType, value }: Quad['object']): boolean => termType === 'Literal' && value.length <= LONGEST
  const title = one(DCT('title'), isText, `one text of ${LONGEST} characters at most`)
  const description = one(DCT('description'), isText, `one text of ${LONGEST} characters at most`)
  const isUrl = ({ termType, value }: Quad['object']): boolean => termType === 'NamedNode' && /^https?:/.test(value)
  const stylesheet = one(AC('stylesheet'), isUrl, 'one http or https URL')
  const isBoolean = (term: Quad['object']): boolean =>
    term.termType === 'Literal' && term.datatype.value === XSD('boolean') && /^(?:true|false|1|0)$/.test(term.value)
  const allowed = ALLOW_READ.map((property) => one(property, isBoolean, 'one xsd:boolean')).filter(
    (value) => before !== undefined || value !== undefined,
  )
  const allowRead = allowed
    .map((value) => value === 'true' || value === '1')
    .find((value) => value !== before?.allowRead)
  for (const property of own.keys()) mistakes.push([property, `<${property}> is not a setting.`])
  if (mistakes.length > 0) return mistakes
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(stylesheet !== undefined && { stylesheet }),
    allowRead: allowRead ?? before?.allowRead ?? false,
  }
}
