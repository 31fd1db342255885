// Shows terms: IRIs of a few schemes as links, everything else as text. No content of a term becomes markup. Characters
// that would reorder the surrounding text are made visible.
import type { Child } from 'hono/jsx'
import type { Literal } from '@rdfjs/types'
import { directionOf, type Term } from '../rdf/graph.js'
import { RDF, XSD } from '../rdf/vocabulary.js'
import { labelOf, prefixedName, shortIri } from './labels.js'
import { numberOf, plottedTimeOf } from './plotted.js'
import { texts } from './texts.js'

/** IRIs of other schemes could run code or open other programs, so they are shown as text. */
const LINKED = /^(?:https?:\/\/|mailto:|tel:)/i

export const isLinked = (iri: string): boolean => LINKED.test(iri)

/** The longest shown literal or IRI, in UTF-16 units. */
const LONGEST = 2000

// Unicode Bidirectional Algorithm (UAX 9) §2, and control characters, which markup may not contain.
const CONTROLS =
  /([\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff])/

/** Untrusted text. */
export function Plain({ text, most = LONGEST }: { readonly text: string; readonly most?: number }) {
  const cut = text.length > most ? text.slice(0, most).toWellFormed() : text
  const parts: Child[] = CONTROLS.test(cut)
    ? cut.split(CONTROLS).map((part, i) => (i % 2 === 0 ? part : mark(part)))
    : [cut]
  if (cut !== text) parts.push(<span class="tag">{texts().cut(text.length)}</span>)
  return <>{parts}</>
}

const codeOf = (character: string): string =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
const mark = (character: string): Child => <span class="control">{codeOf(character)}</span>

/** For places without markup, such as titles. */
export const visible = (text: string): string =>
  text
    .split(CONTROLS)
    .map((part, i) => (i % 2 === 0 ? part : codeOf(part)))
    .join('')

export function IriShown({
  iri,
  base,
  name,
}: {
  readonly iri: string
  readonly base: string
  readonly name?: string | undefined
}) {
  const text = name ?? shortIri(iri, base)
  if (!isLinked(iri))
    return (
      <code class="iri">
        <Plain text={text} />
      </code>
    )
  return (
    <a class="iri" href={iri} {...(text === iri ? {} : { title: iri })}>
      <bdi>
        <Plain text={text} />
      </bdi>
    </a>
  )
}

/** A property or class, shown by its label. */
export const NamedTerm = ({ iri }: { readonly iri: string }) =>
  isLinked(iri) ? (
    <a href={iri} title={prefixedName(iri) ?? iri}>
      <Plain text={labelOf(iri)} />
    </a>
  ) : (
    <Plain text={Object.hasOwn(texts().labels, iri) ? texts().labels[iri]! : iri} />
  )

/** Datatypes that are never shown. */
const TEXTUAL: ReadonlySet<string> = new Set([XSD('string'), RDF('langString'), RDF('dirLangString')])

const NUMBERS: ReadonlySet<string> = new Set(['integer', 'decimal', 'double'].map(XSD))
const TIMES: ReadonlySet<string> = new Set(['date', 'gYear'].map(XSD))

/** A number, boolean or date whose form reveals its type. A tooltip shows the datatype. */
const isPlain = (term: Literal): boolean =>
  (NUMBERS.has(term.datatype.value) && numberOf(term) !== undefined) ||
  (TIMES.has(term.datatype.value) && plottedTimeOf(term) !== undefined) ||
  (term.datatype.value === XSD('boolean') && /^(?:true|false)$/.test(term.value))

interface ValueProps {
  readonly term: Term
  readonly base: string
  /** Shows every datatype: two values may differ in nothing else. */
  readonly isExact?: boolean
}

export function Value({ term, base, isExact = false }: ValueProps) {
  if (term.termType === 'NamedNode') return <IriShown iri={term.value} base={base} />
  if (term.termType === 'BlankNode') return <code>_:{term.value}</code>
  if (term.termType === 'Quad') {
    return (
      <>
        {'⟨ '}
        <Value term={term.subject} base={base} /> <NamedTerm iri={term.predicate.value} />{' '}
        <Value term={term.object} base={base} isExact={isExact} />
        {' ⟩'}
      </>
    )
  }
  if (term.termType !== 'Literal') return null
  const { value, language, datatype } = term
  if (datatype.value === XSD('dateTime')) return <Time value={value} isExact />
  const direction = directionOf(term)
  const name = prefixedName(datatype.value)
  const isBare = !isExact && isPlain(term)
  return (
    <>
      <span
        class="text"
        dir={direction ?? 'auto'}
        {...(language && { lang: language })}
        {...(isBare && { title: name })}
      >
        <Plain text={value} />
      </span>
      {language ? <span class="tag">{language}</span> : null}
      {isBare || TEXTUAL.has(datatype.value) ? null : (
        <span class="tag">{name ?? <Plain text={datatype.value} />}</span>
      )}
    </>
  )
}

/** `2026-11-22 14:05 UTC`; dates in other forms are left unchanged. */
export function Time({ value, isExact }: { readonly value: string; readonly isExact?: boolean }) {
  const [, day, time, seconds = ''] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?:(:\d\d)(?:\.\d+)?)?Z$/.exec(value) ?? []
  if (day === undefined) return <Plain text={value} />
  return (
    <time dateTime={value} title={value}>
      {day} {time}
      {isExact ? seconds : ''} UTC
    </time>
  )
}
