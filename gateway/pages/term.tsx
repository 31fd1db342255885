// Showing terms: links for IRIs of a few schemes, text for everything else, and nothing that a term holds as
// markup. Characters that would change the order of the text around them are made visible.
import type { Child } from 'hono/jsx'
import type { Literal } from '@rdfjs/types'
import { directionOf, type Term } from '../rdf/graph.js'
import { RDF, XSD } from '../rdf/vocabulary.js'
import { labelOf, prefixedName, shortIri } from './labels.js'
import { numberOf, plottedTimeOf } from './plotted.js'
import { texts } from './texts.js'

/** Other schemes could run code or open other programs: their IRIs are text. */
const LINKED = /^(?:https?:\/\/|mailto:|tel:)/i

export const isLinked = (iri: string): boolean => LINKED.test(iri)

/** In UTF-16 units of a literal or IRI that is shown. */
const LONGEST = 2000

// Unicode Bidirectional Algorithm (UAX 9) §2, and control characters, which no markup may hold.
const CONTROLS =
  /([\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff])/

/** Text of others. */
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

/** The same where there is no markup: a title. */
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

/** A property or class by its label. */
export const NamedTerm = ({ iri }: { readonly iri: string }) =>
  isLinked(iri) ? (
    <a href={iri} title={prefixedName(iri) ?? iri}>
      <Plain text={labelOf(iri)} />
    </a>
  ) : (
    <Plain text={Object.hasOwn(texts().labels, iri) ? texts().labels[iri]! : iri} />
  )

/** Datatypes that are never mentioned. */
const TEXTUAL: ReadonlySet<string> = new Set([XSD('string'), RDF('langString'), RDF('dirLangString')])

const NUMBERS: ReadonlySet<string> = new Set(['integer', 'decimal', 'double'].map(XSD))
const TIMES: ReadonlySet<string> = new Set(['date', 'gYear'].map(XSD))

/** A number, truth value or date whose form shows what it is: a tooltip has its datatype. */
const isPlain = (term: Literal): boolean =>
  (NUMBERS.has(term.datatype.value) && numberOf(term) !== undefined) ||
  (TIMES.has(term.datatype.value) && plottedTimeOf(term) !== undefined) ||
  (term.datatype.value === XSD('boolean') && /^(?:true|false)$/.test(term.value))

interface ValueProps {
  readonly term: Term
  readonly base: string
  /** Mentions each datatype: two values may differ in nothing else. */
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

/** `2026-11-22 14:05 UTC`; a date in another form as it is. */
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
