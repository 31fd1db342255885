// The attacks on the memory of threads: V8 may end the whole process if the heap of one thread is full.
import { fill, many } from '../support/growth.js'
import { ttl, update } from '../support/world.js'
import { answered } from './availability.js'
import { expected, type Place } from './place.js'
import type { Attack } from './run-row.js'

const PREFIX = `@prefix p: <http://x.example/${'a'.repeat(1_900)}> . `
const SHAPE = `@prefix sh: <http://www.w3.org/ns/shacl#> . <urn:S> a sh:NodeShape ; sh:targetSubjectsOf <a:> ; sh:property [ sh:path <a:> ; sh:nodeKind sh:IRI ; sh:node <urn:S> ] .`
const list = (tokens: number): string => `?a ?b (${'()'.repeat(tokens)})`
const asked = (body: string) => ({ fields: { 'Content-Type': 'application/sparql-query' }, body })

/** Every document is checked against this shape. */
const shaped = async (place: Place): Promise<string> => {
  await expected(place.as('owner')('PUT', '/admin/ontologies/memory/', ttl(SHAPE)), 201)
  return ''
}

// prettier-ignore
export const MEMORY: readonly Attack[] = [
  {
    name: 'blank-nodes-under-a-long-name', section: 'availability', wanted: 'refused: each gets an IRI with the whole name of the document', limit: 60,
    run: async (place) => answered([await place.as('writer')('PUT', `/${fill('a', 1_000)}/`, ttl(`<a:> <b:> []${fill(',[]', 600_000)} .`))], 413),
  },
  {
    name: 'query-of-many-tokens', section: 'availability', wanted: 'refused before it is parsed', quick: true,
    run: async (place) => answered([
      await place.as('stranger')('POST', '/sparql', asked(`SELECT * { ${list(260_000)} }`)),
      await place.as('stranger')('POST', '/sparql', asked(`SELECT * { ?a ?b 1${fill(',1', 600_000)} }`)),
    ], 413),
  },
  {
    name: 'patch-of-long-lists', section: 'availability', wanted: 'parsed within the memory of a thread',
    run: async (place) => {
      const path = place.path()
      await expected(place.as('writer')('PUT', path, ttl('<a:> <b:> 1 .')), 201)
      return answered([await place.as('writer')('PATCH', path, update(`DELETE { ?a <urn:q> ?b } WHERE { ${list(120_000)} }`))], 413)
    },
  },
  {
    name: 'shapes-on-many-triples', section: 'availability', wanted: 'refused: shapes need more memory than there is', own: { flags: ['--max-body', '6000000'] }, prepare: shaped,
    run: async (place) => answered([await place.as('writer')('PUT', place.path(), ttl(`@prefix : <a:> . ${many(5_000_000, (i) => `:${i.toString(36)} : : .\n`)}`))], 413, 422),
  },
  {
    name: 'patch-of-many-terms', section: 'availability', wanted: 'refused before its solutions are parsed',
    run: async (place) => {
      const [path, names] = [place.path(), Array.from({ length: 9 }, (_, i) => `?x${i}`)]
      await expected(place.as('writer')('PUT', path, ttl(many(6_000, (i) => `<a:${i}> <a:> 1 . `))), 201)
      const remove = names.map((name) => `?a <urn:q> ${name} .`).join(' ')
      const bind = names.map((name) => `BIND(?b AS ${name})`).join(' ')
      return answered([await place.as('writer')('PATCH', path, update(`DELETE { ${remove} } WHERE { ?a <a:> 1 . ?b <a:> 1 . ${bind} }`))], 413)
    },
  },
  {
    name: 'import-of-long-names', section: 'availability', wanted: 'given up: the names of its documents are counted',
    run: async (place) => answered([await place.as('owner')('POST', '/importer', { fields: { 'Content-Type': 'application/trig' }, body: PREFIX + many(6_000_000, (i) => `p:${i} { <a:> <b:> 1 }\n`) })], 413),
  },
]
