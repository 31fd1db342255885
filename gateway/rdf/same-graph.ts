// Decides whether two texts represent the same graph, though stores relabel blank nodes and some keep only the values
// of literals. Pure.
import { createHash } from 'node:crypto'
import { INTEGERS, isTimeType, typeNamed } from '../../policies/datatypes.js'
import { literal, namedNode, nTriplesTerm, type Quad, type Term } from './graph.js'
import { storedForm, type TypedLiteral } from './literal-forms.js'
import { readNTriples } from './n-triples.js'
import { XSD } from './vocabulary.js'

/**
 * True if two graphs in N-Triples are isomorphic, comparing literals by value; undefined means a missing document.
 * Never false for isomorphic graphs. May be true for graphs that differ only in the links between blank nodes that look
 * alike; such a change is noticed with the next one.
 */
export function areSame(a: string | undefined, b: string | undefined): boolean {
  if (a === b) return true
  return a !== undefined && b !== undefined && formOf(a) === formOf(b)
}

/** A form shared by isomorphic graphs: their lines, with a colour in place of each label. */
function formOf(nTriples: string): string {
  const triples = readNTriples(nTriples)?.map(partsOf)
  if (!triples) return nTriples
  const colours = coloursOf(triples)
  const coloured = (term: Part): string => (isLabel(term) ? `_:${colours.get(term)}` : term)
  return triples
    .map((parts) => parts.map(coloured).join(' '))
    .sort()
    .join('\n')
}

type Part = string
/** The terms of a triple, including those of its triple terms. */
type Parts = readonly Part[]

const partsOf = ({ subject, predicate, object }: Pick<Quad, 'subject' | 'predicate' | 'object'>): Parts =>
  [subject, predicate, byValue(object)].flatMap((term) =>
    term.termType === 'Quad' ? ['<<(', ...partsOf(term as Quad), ')>>'] : nTriplesTerm(term),
  )
const isLabel = (part: Part): boolean => part.startsWith('_:')

/** After this many rounds, a colour represents everything within this many steps of a blank node. */
const ROUNDS = 32

/** Colour refinement: blank nodes with the same surroundings get the same colour. */
function coloursOf(triples: readonly Parts[]): ReadonlyMap<Part, string> {
  const about = new Map<Part, Parts[]>()
  for (const parts of triples) {
    for (const label of new Set(parts.filter(isLabel))) {
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

/** A form of the literal that equal values share, for datatypes that stores keep by value (graph.ts). */
function byValue(term: Term): Term {
  const name = term.termType === 'Literal' ? typeNamed(term.datatype.value) : ''
  if (name === '' || term.value.length > LONGEST) return term
  const written: TypedLiteral = [term.value, name]
  const [form, type] = storedForm(written) ?? written
  return literal(valueOf(form, type) ?? form, namedNode(XSD(type)))
}

/** Longer literals are compared as texts. */
const LONGEST = 100

function valueOf(text: string, type: string): string | undefined {
  if (Object.hasOwn(INTEGERS, type)) return /^[+-]?\d+$/.test(text) ? String(BigInt(text.replace('+', ''))) : undefined
  if (isTimeType(type)) return text.replace(/\.\d*/, withoutEndingZeros).replace(/[+-]00:00$/, 'Z')
  if (type === 'boolean') return text === '1' ? 'true' : text === '0' ? 'false' : undefined
  if (type === 'double' || type === 'float') return Number.isNaN(Number(text)) ? undefined : String(Number(text))
  if (type !== 'decimal') return undefined
  const [, sign, digits, part = ''] = /^([+-]?)(\d*)(\.\d*)?$/.exec(text) ?? []
  if (digits === undefined) return undefined
  const whole = digits.replace(/^0+/, '')
  return `${sign === '-' ? '-' : ''}${whole || '0'}.${withoutEndingZeros(part).slice(1) || '0'}`
}

/** The fraction with its point but without trailing zeros; '' if all digits are zero. */
function withoutEndingZeros(part: string): string {
  let end = part.length
  while (part[end - 1] === '0') end--
  return end <= 1 ? '' : part.slice(0, end)
}
