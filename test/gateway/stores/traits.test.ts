// A start finds out how the store answers queries (design 4). A store that ignores something that restricted queries
// rely on gets no such queries. Each store here is a real one that gets a changed query.
import t from 'tap'
import { REFUSALS } from '../../../gateway/sparql/rights/refusals.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { forEachStore, rowsOf } from '../../support/stores.js'
import { makeWorld, ttl, update } from '../../support/world.js'

const VALUE = 'urn:value'
const CLASS = 'urn:class'
const any = `?s <${VALUE}> ?v`

/** The query with another pattern in each EXISTS. */
function inExists(text: string, change: (group: string) => string): string {
  const found = /EXISTS\s*\{/.exec(text)
  if (!found) return text
  const begin = found.index + found[0].length
  let end = begin
  for (let depth = 1; depth > 0; end++) depth += { '{': 1, '}': -1 }[text[end]!] ?? 0
  const group = text.slice(begin, end - 1)
  return `${text.slice(0, begin)}${change(group)}}${inExists(text.slice(end), change)}`
}

const UNUSABLE = /does not evaluate FILTER and EXISTS on the name of a graph: only agents who may read every graph/
const FROM = /FROM (NAMED )?<[^>]*>/g
const FROM_REFUSED = new RegExp(REFUSALS.from.detail.replace(/[?.{}]/g, '\\$&'))
const asItIs = { defaultGraph: 'own', honoursFrom: true, isSettled: true }

/**
 * `from`: the text of the answer to a query with FROM; `graph`: of one with GRAPH ?g; undefined: what the agent may
 * read
 */
interface Changed {
  readonly name: string
  readonly change: (text: string) => string
  readonly log: object
  readonly from?: RegExp
  readonly graph?: RegExp
}
const unusable = { log: { level: 40, problem: UNUSABLE }, from: UNUSABLE, graph: UNUSABLE }
// prettier-ignore
const STORES: readonly Changed[] = [
  { name: 'follows SPARQL', change: (text) => text, log: { level: 30, ...asItIs } },
  { name: 'ignores FROM and FROM NAMED', change: (text) => text.replace(FROM, ''), log: { level: 30, ...asItIs, honoursFrom: false }, from: FROM_REFUSED },
  { name: 'ignores FROM', change: (text) => text.replace(/FROM <[^>]*>/g, ''), log: { level: 30, ...asItIs, honoursFrom: false }, from: FROM_REFUSED },
  { name: 'ignores a dataset with FROM NAMED', change: (text) => (text.includes('FROM NAMED') ? text.replace(FROM, '') : text), log: { level: 30, ...asItIs, honoursFrom: false }, from: FROM_REFUSED },
  { name: 'ignores FILTER on the name of a graph', change: (text) => text.replace(/FILTER\s*\(\s*\?\w+ IN \([^)]*\)\s*\)/g, ''), ...unusable },
  { name: 'treats each FILTER EXISTS as true', change: (text) => text.replace(/FILTER EXISTS \{/g, 'OPTIONAL {'), ...unusable },
  { name: 'treats each FILTER EXISTS as false', change: (text) => text.replace(/FILTER EXISTS \{/g, 'FILTER NOT EXISTS { } FILTER EXISTS {'), ...unusable },
  { name: 'evaluates EXISTS by itself', change: (text) => inExists(text, (group) => group.replace(/\?/g, '?own_')), ...unusable },
  { name: 'does not know the name of the graph in EXISTS', change: (text) => inExists(text, (group) => group.replace(/GRAPH \?/g, 'GRAPH ?own_')), ...unusable },
  { name: 'does not know other names in EXISTS', change: (text) => inExists(text, (group) => group.replace(/(?<!GRAPH )\?/g, '?own_')), ...unusable },
]

void forEachStore(t, 'a store that', async (t, makeStores, kind) => {
  for (const { name, change, log, from, graph } of STORES) {
    await t.test(name, async (t) => {
      const made = await makeStores()
      const query: GraphStore['query'] = (text, ...more) => made.endUser.query(change(text), ...more)
      const endUser: GraphStore = { ...made.endUser, query }
      // The traits of the embedded store are known, so it is not asked.
      Reflect.deleteProperty(endUser, 'traits')
      const world = await makeWorld(t, { ...made, endUser })
      const row = rowsOf(t, kind)
      const { base, webIdOf } = world
      const [owner, agent] = [world.as('owner'), world.as('stranger')]
      const about = `a acl:Authorization ; acl:mode acl:Read , acl:Write ; acl:agent <${webIdOf('stranger')}>`
      const rules = `@prefix acl: <http://www.w3.org/ns/auth/acl#> .
        <#names> ${about} ; acl:accessTo <${base}sparql> , <${base}open/> . <#classes> ${about} ; acl:accessToClass <${CLASS}> .`
      // prettier-ignore
      for (const [path, body] of [
        ['/open/', `<> <${VALUE}> "open" .`],
        ['/typed/', `<> a <${CLASS}> ; <${VALUE}> "typed" .`],
        ['/hidden/', `<> <${VALUE}> "hidden" .`],
        ['/admin/acl/authorizations/traits/', rules],
      ] as const) t.equal((await owner('PUT', path, ttl(body))).status, 201)
      const ask = async (who: typeof agent, query: string, more = ''): Promise<{ status: number; text: string }> => {
        const target = `/sparql?query=${encodeURIComponent(query)}${more}`
        const { status, text } = await who('GET', target, { fields: { Accept: 'text/csv, text/turtle;q=0.5' } })
        return { status, text: status === 200 ? text.split(/\r?\n/).slice(1).filter(Boolean).sort().join() : text }
      }
      const uri = (path: string): string => `&default-graph-uri=${encodeURIComponent(base + path)}`
      const [OWN, ofGraph] = [`SELECT ?v { ${any} }`, `SELECT ?v { GRAPH ?g { ${any} } }`]
      // prettier-ignore
      const QUERIES: readonly (readonly [name: string, query: string, text: string, refused: RegExp | undefined, more?: string])[] = [
        ['GRAPH ?g', ofGraph, 'open,typed', graph],
        ['GRAPH <name>', `SELECT ?v { GRAPH <${base}open/> { ${any} } }`, 'open', graph],
        ['GRAPH <hidden>', `SELECT ?v { GRAPH <${base}hidden/> { ${any} } }`, '', graph],
        ['FROM', `SELECT ?v FROM <${base}open/> { ${any} }`, 'open', from],
        ['FROM <hidden>', `SELECT ?v FROM <${base}hidden/> { ${any} }`, '', from],
        ['FROM <absent>', `SELECT ?v FROM <${base}absent/> { ${any} }`, '', from],
        ['FROM NAMED', `SELECT ?v FROM NAMED <${base}typed/> { GRAPH ?g { ${any} } }`, 'typed', from],
        ['FROM NAMED <hidden>', `SELECT ?v FROM NAMED <${base}hidden/> { GRAPH ?g { ${any} } }`, '', from],
        ['default-graph-uri', OWN, 'open', from, uri('open/')],
        ['default-graph-uri: hidden', OWN, '', from, uri('hidden/')],
      ]
      for (const [asked, query, text, refused, more] of QUERIES) {
        await row(`${name}, ${asked}: ${refused ? 'refused' : text || 'nothing'}`, async (t) => {
          const answer = await ask(agent, query, more)
          if (refused) t.match(answer, { status: graph ? 502 : 403, text: refused })
          else t.same(answer, { status: 200, text })
        })
      }
      await row(`${name}: an update with a pattern`, async (t) => {
        const text = `INSERT { GRAPH <${base}open/> { <urn:found> <urn:found> ?v } } WHERE { GRAPH ?g { ${any} } }`
        const { status, text: told } = await agent('POST', '/sparql', update(text))
        t.equal(status, graph ? 502 : 200, told)
        const after = await ask(owner, `SELECT ?v { GRAPH <${base}open/> { <urn:found> <urn:found> ?v } }`)
        t.same(after, { status: 200, text: graph ? '' : 'open,typed' })
      })
      await row(`${name}: the owner queries it as it is`, async (t) => {
        t.same(await ask(owner, ofGraph), { status: 200, text: 'hidden,open,typed' })
        t.equal((await ask(owner, `SELECT ?v FROM <${base}open/> { ${any} }`)).status, 200)
      })
      await row(`${name}: the log says so`, (t) => {
        const said = world.log.filter(
          ({ msg, store }) => msg === 'how the triplestore answers queries' && store === endUser.name,
        )
        t.match(said.at(-1), log)
      })
    })
  }
})
