// Finds out in which forms a store stores literals (rdf/literal-forms.ts): writes samples to a separate graph, reads
// them back, and removes the graph.
import { typeNamed } from '../../policies/datatypes.js'
import { isFailure, type Problem } from '../problem.js'
import { literal, nTriplesLine, triple, typed } from '../rdf/graph.js'
import {
  AS_WRITTEN,
  familyOf,
  storedForm,
  UNCLEAR,
  type Family,
  type LiteralForms,
  type TypedLiteral,
} from '../rdf/literal-forms.js'
import { readNTriples } from '../rdf/n-triples.js'
import { XSD } from '../rdf/vocabulary.js'
import type { GraphStore } from './store.js'

const GRAPH = 'urn:triplegate:literals'
const PREDICATE = `${GRAPH}#form`
const EMPTY = `DROP SILENT GRAPH <${GRAPH}>`

/** In forms that a store changes if it stores values. No known store stores the last three datatypes as values. */
const SAMPLES: readonly TypedLiteral[] = [
  ['01', 'integer'],
  ['+1', 'int'],
  ['007', 'nonNegativeInteger'],
  ['1.50', 'decimal'],
  ['2', 'decimal'],
  ['1e0', 'double'],
  ['1.50E6', 'double'],
  ['1e0', 'float'],
  ['1', 'boolean'],
  ['2020-01-01T00:00:00.500Z', 'dateTime'],
  ['2020-01-01T00:00:00-00:00', 'dateTime'],
  ['2020-01-01-00:00', 'date'],
  ['01:00:00.500+00:00', 'time'],
  ['2020+00:00', 'gYear'],
  ['P12M', 'duration'],
]

/** A literal whose language tag has a region and a script, and the form of RFC 5646 §2.1.1. */
const TAGGED = nTriplesLine(triple(`${GRAPH}#tag`, PREDICATE, literal('', 'zh-hant-tw')))
const FORMATTED = 'zh-Hant-TW'

/** The index of the decimal 1.50 in SAMPLES. */
const DECIMAL = 3

/** Another gateway may empty the graph meanwhile. */
const TRIES = 3

/** A problem if the store does not answer, or accepts no such update. */
export async function literalFormsOf(store: GraphStore): Promise<LiteralForms | Problem> {
  const lines = [...SAMPLES.map(lineOf), TAGGED]
  for (let tries = 0; tries < TRIES; tries++) {
    const failed = await store.update(`${EMPTY} ;\nINSERT DATA { GRAPH <${GRAPH}> {\n${lines.join('\n')}\n} }`)
    if (failed) return failed
    const text = await store.read(GRAPH)
    const forms = isFailure(text) ? text : formsIn(text ?? '')
    const hidesZeros = forms && !isFailure(forms) && forms.byValue.includes('decimal') && (await zerosAreHidden(store))
    const left = await store.update(EMPTY)
    if (isFailure(forms)) return forms
    if (isFailure(hidesZeros)) return hidesZeros
    if (left) return left
    if (forms) return { ...forms, hidesZeros: hidesZeros === true }
  }
  return UNCLEAR
}

const lineOf = ([form, type]: TypedLiteral, number: number): string =>
  nTriplesLine(triple(`${GRAPH}#${number}`, PREDICATE, typed(form, XSD(type))))

async function zerosAreHidden(store: GraphStore): Promise<boolean | Problem> {
  const line = lineOf(storedForm(SAMPLES[DECIMAL]!)!, DECIMAL)
  const failed = await store.update(`DELETE DATA { GRAPH <${GRAPH}> {\n${line}\n} }`)
  if (failed) return failed
  const text = await store.read(GRAPH)
  return isFailure(text) ? text : (text ?? '').includes(`<${GRAPH}#${DECIMAL}>`)
}

/** Undefined if a literal is missing. */
function formsIn(nTriples: string): LiteralForms | undefined {
  // A parsed literal has its tag in lower case.
  const tag = /"@([\w-]+)/.exec(nTriples)?.[1]
  const forms = formsOfTyped(nTriples)
  return tag === undefined || !forms ? undefined : { ...forms, formatsTags: tag === FORMATTED }
}

function formsOfTyped(nTriples: string): LiteralForms | undefined {
  const found = new Map<string, TypedLiteral>()
  for (const { subject, object } of readNTriples(nTriples) ?? []) {
    if (object.termType === 'Literal') found.set(subject.value, [object.value, typeNamed(object.datatype.value)])
  }
  const byValue = new Set<Family>()
  const written = new Set<Family>()
  for (const [i, sample] of SAMPLES.entries()) {
    const kept = found.get(`${GRAPH}#${i}`)
    if (!kept) return undefined
    const family = familyOf(sample[1])
    const isWritten = isSame(kept, sample)
    if (!isWritten && !(family && isSame(kept, storedForm(sample)!))) return UNCLEAR
    if (family) (isWritten ? written : byValue).add(family)
  }
  if (byValue.size === 0) return AS_WRITTEN
  return [...byValue].some((family) => written.has(family)) ? UNCLEAR : { ...AS_WRITTEN, byValue: [...byValue] }
}

const isSame = ([form, type]: TypedLiteral, [other, otherType]: TypedLiteral): boolean =>
  form === other && type === otherType
