// Reads the resources described by configuration quads, in any graph, and collects faults. Pure.
import type { Quad, Term } from '@rdfjs/types'
import type { Fault } from './faults.js'
import { CONFIGURATION_PREFIXES, RDF } from '../rdf/vocabulary.js'

export function prefixed(iri: string): string {
  const [prefix, namespace] =
    Object.entries(CONFIGURATION_PREFIXES).find(([, namespace]) => iri.startsWith(namespace)) ?? []
  return prefix === undefined ? `<${iri}>` : `${prefix}:${iri.slice(namespace!.length)}`
}

/** Resources and their properties. If a property has several names, messages use the first. */
export interface DescribedResources {
  readonly subjects: readonly string[]
  describes(subject: string): boolean
  types(subject: string): readonly string[]
  /** All properties and values of a subject. */
  properties(subject: string): readonly (readonly [property: string, value: Term])[]
  /** The distinct values of the properties, both texts and IRIs. */
  all(subject: string, properties: readonly string[]): readonly string[]
  /** The single value; undefined if there is none. Several values are a fault. */
  one(subject: string, properties: readonly string[]): string | undefined
  /** Like `one`, but a missing value is a fault too. */
  required(subject: string, properties: readonly string[], fix: string): string | undefined
  fault(subject: string, property: string, problem: string, fix: string): void
}

/** The resources described by the quads. Faults are added to the list. */
export function describe(quads: Iterable<Quad>, faults: Fault[]): DescribedResources {
  const bySubject = new Map<string, (readonly [string, Term])[]>()
  for (const { subject, predicate, object } of quads) {
    const key = subject.termType === 'BlankNode' ? `_:${subject.value}` : subject.value
    bySubject.set(key, [...(bySubject.get(key) ?? []), [predicate.value, object]])
  }
  const properties: DescribedResources['properties'] = (subject) => bySubject.get(subject) ?? []
  const fault: DescribedResources['fault'] = (subject, property, problem, fix) =>
    void faults.push({ subject, property: property && prefixed(property), problem, fix })

  const all: DescribedResources['all'] = (subject, names) => {
    const values = properties(subject).filter(([property]) => names.includes(property))
    for (const [property] of values.filter(([, { termType }]) => termType === 'BlankNode')) {
      fault(subject, property, 'has a blank node as value', 'Give it an IRI such as <urn:example:name>.')
    }
    return [...new Set(values.filter(([, { termType }]) => termType !== 'BlankNode').map(([, { value }]) => value))]
  }
  const one: DescribedResources['one'] = (subject, names) => {
    const [value, ...more] = all(subject, names)
    if (more.length === 0) return value
    fault(subject, names[0]!, `has ${more.length + 1} values instead of one`, 'Keep one of them.')
    return undefined
  }
  return {
    subjects: [...bySubject.keys()],
    describes: (subject) => bySubject.has(subject),
    types: (subject) => all(subject, [RDF('type')]),
    properties,
    all,
    one,
    required: (subject, names, fix) => {
      const faultsBefore = faults.length
      const value = one(subject, names)
      if (value === undefined && faults.length === faultsBefore) fault(subject, names[0]!, 'is missing', fix)
      return value
    },
    fault,
  }
}
