// In charge of whether two texts of a document say the same: a store gives blank nodes labels of its own, and some keep the
// value of a literal, not how it was written. Pure.
import { createHash } from 'node:crypto'
import { literal, nTriplesTerm, type Quad, type Term } from './graph.js'
import { readNTriples } from './read.js'

/**
 * Whether two graphs, in N-Triples, are isomorphic, literals taken by their values; undefined is the document that does not
 * exist. Isomorphic ones are always the same. Others are told apart unless they differ only in how blank nodes are linked
 * that nothing else tells apart: such a change is left to the next one.
 */
export function areSame(a: string | undefined, b: string | undefined): boolean {
  if (a === b) return true
  return a !== undefined && b !== undefined && formOf(a) === formOf(b)
}

/** What isomorphic graphs have in common: their lines, with a colour in place of each label. */
function formOf(nTriples: string): string {
  const triples = (readNTriples(nTriples) ?? []).map(partsOf)
  const colours = coloursOf(triples)
  const coloured = (term: Part): string => (isLabel(term) ? `_:${colours.get(term)}` : term)
  return triples
    .map((parts) => parts.map(coloured).join(' '))
    .sort()
    .join('\n')
}

type Part = string
type Parts = readonly [subject: Part, predicate: Part, object: Part]

const partsOf = ({ subject, predicate, object }: Quad): Parts => [
  nTriplesTerm(subject),
  nTriplesTerm(predicate),
  nTriplesTerm(byValue(object)),
]
const isLabel = (part: Part): boolean => part.startsWith('_:')

/** Rounds after which blank nodes are known by what is within so many steps of them. */
const ROUNDS = 32

/** Colour refinement: nodes that look alike from outside have the same colour. */
function coloursOf(triples: readonly Parts[]): ReadonlyMap<Part, string> {
  const about = new Map<Part, Parts[]>()
  for (const parts of triples) {
    for (const label of new Set([parts[0], parts[2]].filter(isLabel))) {
      const known = about.get(label)
      if (known) known.push(parts)
      else about.set(label, [parts])
    }
  }
  let colours = new Map(Array.from(about.keys(), (label) => [label, '']))
  for (let round = 0, distinct = 0; round < ROUNDS; round++) {
    const seenFrom = (own: Part, part: Part): string =>
      part === own ? '_:' : isLabel(part) ? `_:${colours.get(part)}` : part
    const next = new Map(
      Array.from(about, ([own, mine]) => [
        own,
        digest([colours.get(own)!, ...mine.map((parts) => parts.map((part) => seenFrom(own, part)).join(' ')).sort()]),
      ]),
    )
    const classes = new Set(next.values()).size
    colours = next
    if (classes === distinct || classes === about.size) break
    distinct = classes
  }
  return colours
}

const digest = (lines: readonly string[]): string => createHash('sha256').update(lines.join('\n')).digest('base64')

const XSD = 'http://www.w3.org/2001/XMLSchema#'

/** The literal in a form that is the same for the same value, of the datatypes that stores keep by value (graph.ts). */
function byValue(term: Term): Term {
  if (term.termType !== 'Literal' || !term.datatype.value.startsWith(XSD)) return term
  if (term.value.length > LONGEST) return term
  const value = valueOf(term.value, term.datatype.value.slice(XSD.length))
  return value === undefined ? term : literal(value, term.datatype)
}

/** Of the texts that are read for their values. */
const LONGEST = 100
const INTEGER = /^(?:(?:non)?(?:positive|negative)?integer|(?:unsigned)?(?:long|int|short|byte))$/i
const TEMPORAL = /^(?:dateTime(?:Stamp)?|date|time|gYear|gYearMonth|gMonth|gMonthDay|gDay)$/

function valueOf(text: string, type: string): string | undefined {
  if (INTEGER.test(type)) return /^[+-]?\d+$/.test(text) ? String(BigInt(text.replace('+', ''))) : undefined
  if (TEMPORAL.test(type))
    return text
      .replace(/(\.\d*?)0+(?=\D|$)/, '$1')
      .replace(/\.(?=\D|$)/, '')
      .replace(/[+-]00:00$/, 'Z')
  if (type === 'boolean') return text === '1' ? 'true' : text === '0' ? 'false' : undefined
  if (type === 'double' || type === 'float') return Number.isNaN(Number(text)) ? undefined : String(Number(text))
  if (type !== 'decimal') return undefined
  const [, sign, whole, part] = /^([+-]?)0*(\d*)(?:\.(\d*?)0*)?$/.exec(text) ?? []
  return whole === undefined ? undefined : `${sign === '-' ? '-' : ''}${whole || '0'}.${part || '0'}`
}
