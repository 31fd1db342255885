// The attacks by long texts that cost little to send: queries, updates, forms and quads, one per row.
import { fill, many } from '../support/growth.js'
import { ttl, turtle, update } from '../support/world.js'
import type { Answer } from '../support/client.js'
import { largeDocument, startedThreads } from './large.js'
import { expected, type Place } from './place.js'
import { answered } from './availability.js'
import type { Attack } from './run-row.js'

const NOTHING = '?s <urn:nothing> ?o . '
const CONDITION = 'FILTER NOT EXISTS { ?s ?p ?o } '
/** Readers may read everything, so their queries are sent unchanged. */
const query = (place: Place, where: string): Promise<Answer> =>
  place.as('stranger')('POST', '/sparql', { fields: { 'Content-Type': 'application/sparql-query' }, body: `SELECT * { ${where} }` }) // prettier-ignore

/** A form of a page of this gateway. */
const form = ({ base }: Place, values: Record<string, string>) => ({
  fields: {
    'Content-Type': 'application/x-www-form-urlencoded',
    Origin: base.slice(0, -1),
    'Sec-Fetch-Site': 'same-origin',
  },
  body: new URLSearchParams(values).toString(),
})

// prettier-ignore
export const LONG_TEXTS: readonly Attack[] = [
  {
    name: 'restricted-query', section: 'availability', wanted: 'restricted in a worker above a size, and answered', quick: true,
    run: async (place) => answered([
      // Nothing matches, so the store has little to do.
      await query(place, NOTHING + fill(CONDITION, 7_000)),
      await query(place, NOTHING + fill('GRAPH ?g { ?s <urn:nothing> ?o } ', 3_000)),
    ], 200),
  },
  {
    name: 'longer-restricted-query', section: 'availability', wanted: 'restricted in a worker, and answered',
    run: async (place) => answered([
      await query(place, NOTHING + fill(CONDITION, 20_000)),
      await query(place, NOTHING + fill('GRAPH ?g { ?s <urn:nothing> ?o } ', 330_000)),
    ], 200, ...(place.datasets ? [] : [413])),
  },
  {
    name: 'restricted-queries-of-a-megabyte', section: 'availability', wanted: 'restricted in a worker, or refused', limit: 60,
    run: async (place) => answered([
      await query(place, NOTHING + fill('?s <urn:nothing> 1 . ', 1_000_000)),
      await query(place, `VALUES ?x { ${fill('1 ', 400_000)} }`),
    ], 200, place.datasets ? 400 : 413),
  },
  {
    // The embedded store would take minutes to order the patterns.
    name: 'patterns-to-be-ordered', section: 'availability', wanted: 'answered; refused for the embedded store', quick: true,
    run: async (place) => {
      const ask = async (agent: string, where: string): Promise<Answer> =>
        place.as(agent)('POST', '/sparql', { fields: { 'Content-Type': 'application/sparql-query' }, body: `SELECT * { ${where} }` })
      const graphs = many(10_000, (i) => `GRAPH ?g { ?s <urn:${i}> ?o } `)
      return answered([
        await ask('stranger', graphs),
        await ask('reader', graphs),
        await ask('reader', NOTHING + many(3_000, (i) => `?s <urn:${i}> ?o . `)),
        await ask('reader', `?s <urn:nothing> ?o ${many(12_000, (i) => `OPTIONAL { ?s <urn:${i}> ?o${i} } `)}`),
      ], place.datasets ? 200 : 413)
    },
  },
  {
    name: 'patterns-on-the-ontology', section: 'availability', wanted: 'refused: the ontology has its own embedded store', quick: true,
    run: async (place) => answered([
      await place.as('owner')('POST', '/ns', { fields: { 'Content-Type': 'application/sparql-query' }, body: `SELECT * { ${many(3_000, (i) => `?s <urn:${i}> ?o . `)} }` }),
    ], 413),
  },
  {
    name: 'update-by-a-long-pattern', section: 'availability', wanted: 'its pattern is read in a worker', quick: true,
    run: async (place) => answered([await place.as('writer')('POST', '/sparql', update(`INSERT { GRAPH ?g { ?s ?p 1 } } WHERE { GRAPH ?g { ?s <urn:nothing> ?p ${fill(CONDITION, 25_000)} } }`))], 200),
  },
  {
    name: 'names-that-expand', section: 'availability', wanted: 'the text for the store is bounded', quick: true,
    run: async (place) => {
      const ask = (agent: string, size: number) => {
        const body = `PREFIX p: <urn:${fill('a', 1_900)}> SELECT * { ${NOTHING} VALUES ?x { ${fill('p:a ', size)} } }`
        return place.as(agent)('POST', '/sparql', { fields: { 'Content-Type': 'application/sparql-query' }, body })
      }
      return answered([await ask('reader', 100_000), await ask('stranger', 100_000), await ask('reader', 400_000)], 400)
    },
  },
  {
    name: 'operations-with-using-graphs', section: 'availability', wanted: 'refused: each operation would name each graph', quick: true,
    run: async (place) => {
      const graphs = many(64_000, (i) => `&using-graph-uri=urn:${i}`)
      const body = `update=${encodeURIComponent('DELETE WHERE { ?s <urn:nothing> 1 } ; '.repeat(1_600))}${graphs}`
      return answered([await place.as('owner')('POST', '/sparql', { fields: { 'Content-Type': 'application/x-www-form-urlencoded' }, body })], 413)
    },
  },
  {
    name: 'document-by-a-long-update', section: 'availability', wanted: 'its new state is computed in a worker', quick: true,
    run: async (place) => answered([await place.as('writer')('POST', '/sparql', update(`INSERT DATA { GRAPH <${place.base}${place.path().slice(1)}> { ${many(400_000, (i) => `<urn:${i}> <urn:p> ${i} . `)} } }`))], 200),
  },
  {
    name: 'document-by-the-longest-update', section: 'availability', wanted: 'its new state is computed in a worker',
    run: async (place) => answered([await place.as('writer')('POST', '/sparql', update(`INSERT DATA { GRAPH <${place.base}${place.path().slice(1)}> { ${many(2_000_000, (i) => `<urn:${i}> <urn:p> ${i} . `)} } }`))], 200),
  },
  {
    name: 'many-quads', section: 'availability', wanted: 'read in a worker, bounded', own: { flags: ['--dataset-path', '/ds', '--max-body', '20000000'] }, limit: 120, prepare: startedThreads,
    run: async (place) => {
      const graph = `<${place.base}${place.path().slice(1)}>`
      return answered([await place.as('owner')('POST', '/ds', { fields: { 'Content-Type': 'application/n-quads' }, body: many(11_000_000, (i) => `<urn:s${i}> <urn:property> "${i}" ${graph} .\n`) })], 200)
    },
  },
  {
    name: 'long-query-of-a-transform', section: 'availability', wanted: 'read in a worker', quick: true,
    run: async (place) => {
      const path = place.path()
      await expected(place.as('writer')('PUT', path, ttl(turtle('"x"'))), 201)
      const text = `CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o ${fill(CONDITION, 50_000)} }`
      return answered([await place.as('writer')('POST', '/transform', ttl(`PREFIX sd: <http://www.w3.org/ns/sparql-service-description#> PREFIX sp: <http://spinrdf.org/sp#>
        <#a> <http://purl.org/dc/terms/source> <${place.base}cached/> ; sd:name <${place.base}${path.slice(1)}> ; sp:text """${text}""" .`))], 204)
    },
  },
  {
    name: 'expressions-in-expressions', section: 'availability', wanted: 'work on values of literals is bounded', quick: true,
    run: async (place) => {
      const path = place.path()
      await expected(place.as('writer')('PUT', path, ttl('<#x> <urn:p> "01"^^<http://www.w3.org/2001/XMLSchema#int> .')), 201)
      const [objects, literals] = [['OBJECT(IF(', '=1,?o,?o))', '?o'], ['STR(STRDT("a"=', ',<http://www.w3.org/2001/XMLSchema#int>))', '"a"']]
      const texts = [objects, literals].map(([open, close, inner]) => `SELECT * { ?s ?p ?o FILTER(${open!.repeat(14)}${inner}${close!.repeat(14)}=1) }`)
      return answered(await Promise.all(texts.map((body) => place.as('owner')('POST', '/sparql', { fields: { 'Content-Type': 'application/sparql-query' }, body }))), place.datasets ? 200 : 400)
    },
  },
  {
    name: 'form-of-many-fields', section: 'availability', wanted: 'no page repeats them before the right is decided', quick: true, hold: 50,
    run: async (place) => {
      const { fields } = form(place, {})
      const sent = { fields: { ...fields, Accept: 'text/html' }, body: `content=x${'&do'.repeat(87_000)}` }
      const answer = await place.as('anonymous')('POST', '/?form=edit', sent)
      const wrong = answer.status !== 403 || answer.text.length > 20_000 ? `a page of ${answer.text.length} characters` : undefined
      return { statuses: [answer.status], wrong }
    },
  },
  {
    name: 'preview-beside-a-large-document', section: 'availability', wanted: 'only the sent data is compared',
    prepare: largeDocument,
    run: async (place, path) => answered([
      await place.as('owner')('POST', `${path}?form=add`, form(place, { do: 'preview', content: '<#a> <urn:b> <urn:c> .' })),
      await place.as('owner')('POST', `${path}?form=add`, form(place, { do: 'preview', content: many(1_000_000, (i) => `<#${i}> <urn:b> <urn:c> .\n`) })),
    ], 200, 413),
  },
]
