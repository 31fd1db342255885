// Decisions depend only on types and owners (design 4). Nothing else of a document is read for a client who may not
// read it, and a missing document causes the same requests as an existing one.
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { Fact, Mode } from '../../../policies/authorizations/authorization.js'
import { makeAuthorizationIndex } from '../../../policies/authorizations/authorization-index.js'
import { decide } from '../../../policies/decide.js'
import { documentOf } from '../../../gateway/documents/document.js'
import { askFacts, leastFacts, type DocumentFacts } from '../../../gateway/documents/facts.js'
import { isFailure } from '../../../gateway/problem.js'
import { graphOf } from '../../../gateway/rdf/graph.js'
import { readStored } from '../../../gateway/rdf/read.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { agentCertificate } from '../../support/certificates.js'
import { makeClient, type Client } from '../../support/client.js'
import { forEachStore, rowsOf } from '../../support/stores.js'
import { makeWorld, ttl, turtle, type World } from '../../support/world.js'
import { ADMIN, authorization, BASE, document, question, replaceGraph } from '../../policies/access-facts.js'

const RDF_TYPE = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>'
const OWNER = '<http://www.w3.org/ns/auth/acl#owner>'
const ACL = 'http://www.w3.org/ns/auth/acl#'

/** Records what is requested of each graph. */
function recorded(store: GraphStore, asked: string[]): GraphStore {
  const note = <Rest extends unknown[], Answer>(what: string, call: (graph: string, ...rest: Rest) => Answer) =>
    ((graph, ...rest) => {
      asked.push(`${what} ${graph}`)
      return call(graph, ...rest)
    }) as typeof call
  return {
    ...store,
    read: note('read', store.read),
    stream: note('stream', store.stream),
    ...(store.readTyped && { readTyped: note('typed', store.readTyped) }),
    excerpt: (graph, kind, call) => {
      asked.push(`${kind} ${graph}`)
      return store.excerpt(graph, kind, call)
    },
  }
}

void forEachStore(t, 'facts first', async (t, makeStores, kind) => {
  const row = rowsOf(t, kind)
  const stores = await makeStores()
  const asked: string[] = []
  const world = await makeWorld(t, {
    endUser: recorded(stores.endUser, asked),
    admin: recorded(stores.admin, asked),
  })
  const { gateway } = world.running
  /** The requests to the stores that a request with empty caches causes, and its status. */
  const trace = async (client: Client, method: string, target: string): Promise<[number, ...string[]]> => {
    for (const { endUser, admin } of gateway.dataspaces) {
      endUser.cache.versions.everythingChanged()
      admin.cache.versions.everythingChanged()
    }
    asked.length = 0
    const { status } = await client(method, target, method === 'PUT' ? ttl(turtle('"x"')) : {})
    const own = asked.map((one) => one.replace(world.origin, ''))
    // The agents are identified before the test.
    return [status, ...own.filter((one) => !one.startsWith('profile /admin/'))]
  }
  const large = await makeLarge(world, stores.endUser)

  await row('refusals read only facts, whether or not the document exists', async (t) => {
    // prettier-ignore
    const rows: [method: string, target: (path: string) => string, asked: (path: string) => string[]][] = [
      ['GET',    (path) => path,                                    (path) => [`facts ${path}`]],
      ['HEAD',   (path) => path,                                    (path) => [`facts ${path}`]],
      ['POST',   (path) => path,                                    (path) => [`facts ${path}`]],
      ['PATCH',  (path) => path,                                    (path) => [`facts ${path}`]],
      ['DELETE', (path) => path,                                    (path) => [`facts ${path}`]],
      ['PUT',    (path) => path,                                    (path) => [`facts ${path}`, 'facts /']],
      ['GET',    (path) => `${path}?timemap`,                       (path) => [`facts ${path}`]],
      ['GET',    (path) => `${path}?version=abcd`,                  (path) => [`facts ${path}`]],
      ['GET',    (path) => `${path}?version=abcd&diff=bcde`,        (path) => [`facts ${path}`]],
    ]
    for (const who of ['anonymous', 'stranger']) {
      for (const [method, target, asks] of rows) {
        for (const path of [large, '/never-existed/']) {
          const expected = [403, ...asks(path)]
          t.same(await trace(world.as(who), method, target(path)), expected, `${who} ${method} ${target(path)}`)
        }
      }
    }
  })
  await row('the endpoint that reports an agent’s rights reads only facts', async (t) => {
    for (const path of [large, '/never-existed/']) {
      const target = `/access?this=${encodeURIComponent(world.origin + path)}`
      t.same(await trace(world.as('reader'), 'GET', target), [200, `facts ${path}`], path)
    }
  })
  await row('a right to any document at the URL: one request, for the document', async (t) => {
    t.same(await trace(world.as('reader'), 'GET', large), [200, `read ${large}`])
    t.same(await trace(world.as('reader'), 'GET', '/never-existed/'), [404, 'read /never-existed/'])
    t.same(await trace(world.as('reader'), 'GET', '/'), [200, 'read /'])
  })
  await row('a right by type or owner: facts, then the document', async (t) => {
    const [owned, typed] = [world.freshPath(), world.freshPath()]
    const line = (path: string, rest: string) => `<${world.origin}${path}> ${rest} .\n`
    await stores.endUser.replace(world.origin + owned, line(owned, `${OWNER} <${world.webIdOf('stranger')}>`))
    await stores.endUser.replace(world.origin + typed, line(typed, `${RDF_TYPE} <http://e/Open>`))
    const rule = `<#this> a <${ACL}Authorization> ; <${ACL}mode> <${ACL}Read> ; <${ACL}accessToClass> <http://e/Open> ;
      <${ACL}agentClass> <http://xmlns.com/foaf/0.1/Agent> .`
    await world.as('owner')('PUT', '/admin/acl/authorizations/facts-first/', ttl(rule))
    t.same(await trace(world.as('stranger'), 'GET', owned), [200, `facts ${owned}`, `read ${owned}`])
    t.same(await trace(world.as('anonymous'), 'GET', typed), [200, `facts ${typed}`, `read ${typed}`])
    t.same(await trace(world.as('anonymous'), 'GET', owned), [403, `facts ${owned}`])
    await world.as('owner')('DELETE', '/admin/acl/authorizations/facts-first/')
  })
  await row('a right to one kind of documents: one request, if the store can check the kind', async (t) => {
    const DH = 'https://www.w3.org/ns/ldt/document-hierarchy#'
    const rule = `<#this> a <${ACL}Authorization> ; <${ACL}mode> <${ACL}Read> ; <${ACL}accessToClass> <${DH}Item> ;
      <${ACL}agent> <${world.webIdOf('stranger')}> .`
    await world.as('owner')('PUT', '/admin/acl/authorizations/items/', ttl(rule))
    const make = async (statements: (iri: string) => string[]): Promise<string> => {
      const path = world.freshPath()
      const iri = world.origin + path
      await stores.endUser.replace(iri, [...statements(iri), `<${iri}#x> <http://e/p> _:b .`].join('\n') + '\n')
      return path
    }
    const typed = (type: string) => (iri: string) => [`<${iri}> ${RDF_TYPE} <${type}> .`]
    const long = (iri: string) => [
      ...typed(`${DH}Item`)(iri),
      ...Array.from({ length: 1000 }, (_, i) => `<${iri}#${i}> <http://e/p> "${i}" .`),
    ]
    const owned = (iri: string) => [
      ...typed(`${DH}Container`)(iri),
      `<${iri}> ${OWNER} <${world.webIdOf('stranger')}> .`,
    ]
    const first = stores.endUser.readTyped ? ['typed'] : []
    // prettier-ignore
    const rows: [what: string, statements: (iri: string) => string[], status: number, asked: string[]][] = [
      ['an item',                 typed(`${DH}Item`),      200, stores.endUser.readTyped ? ['typed'] : ['facts', 'read']],
      ['an item by default',      () => [],                200, [...first, 'facts', 'read']],
      ['an item that is long',    long,                    200, [...first, 'facts', 'read']],
      ['a container',             typed(`${DH}Container`), 403, [...first, 'facts']],
      ['one of another type',     typed('http://e/Other'), 200, [...first, 'facts', 'read']],
      ['a container that the agent owns',  owned,                   200, [...first, 'facts', 'read']],
    ]
    for (const [what, statements, status, asks] of rows) {
      const path = await make(statements)
      t.same(await trace(world.as('stranger'), 'GET', path), [status, ...asks.map((one) => `${one} ${path}`)], what)
      if (status !== 200) continue
      const { text, fields } = await world.as('stranger')('GET', path)
      // With empty caches the document is read by another request.
      t.same(await trace(world.as('reader'), 'GET', path), [200, `read ${path}`], what)
      const plain = await world.as('reader')('GET', path)
      t.same([plain.text, plain.fields.etag], [text, fields.etag], what)
    }
    const absent = await trace(world.as('stranger'), 'GET', '/never-existed/')
    t.same(absent, [404, ...[...first, 'facts'].map((one) => `${one} /never-existed/`)], 'none')
    await world.as('owner')('DELETE', '/admin/acl/authorizations/items/')
  })
  await row("a PUT keeps the provenance of a document, and uses the store's current state", async (t) => {
    const path = world.freshPath()
    const iri = world.origin + path
    const created = `<${iri}> <http://purl.org/dc/terms/created> "2026-01-02T03:04:05Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n`
    const creator = `<${iri}> <http://purl.org/dc/terms/creator> <http://e/someone> .\n`
    const owner = `<${iri}> ${OWNER} <${world.webIdOf('stranger')}> .\n`
    await stores.endUser.replace(iri, created + creator + owner)
    const put = async (text: string): Promise<[number, ...string[]]> => {
      asked.length = 0
      const { status } = await world.as('stranger')('PUT', path, ttl(turtle(text)))
      const own = asked.filter((one) => one.endsWith(` ${iri}`)).map((one) => one.replace(world.origin, ''))
      return [status, ...own]
    }
    t.equal((await world.as('stranger')('GET', path)).status, 200)
    t.same(await put('"one"'), [200, `read ${path}`])
    const stored = (await stores.endUser.read(iri)) as string
    for (const line of [created, creator, owner])
      t.ok(stored.includes(line.slice(0, line.indexOf('"') + 1 || -3)), line)
    await stores.endUser.replace(iri, created + creator)
    t.same(await put('"two"'), [403, `read ${path}`], 'a right that ended behind the gateway')
    t.notMatch(await stores.endUser.read(iri), /two/)
    await stores.endUser.remove(iri)
    t.equal((await put('"three"'))[0], 403, 'removed behind the gateway')
  })
  await row('facts cached for a refusal are never served as a document, and expire with the next write', async (t) => {
    const path = world.freshPath()
    await world.as('owner')('PUT', path, ttl(turtle('"one"')))
    t.equal((await trace(world.as('anonymous'), 'GET', path))[0], 403)
    t.match((await world.as('reader')('GET', path)).text, 'one')
    await world.as('owner')('PUT', path, ttl(turtle('"two"')))
    t.equal((await world.as('anonymous')('GET', path)).status, 403)
    t.match((await world.as('reader')('GET', path)).text, 'two')
    await world.as('owner')('DELETE', path)
    t.equal((await world.as('reader')('GET', path)).status, 404)
  })
  await row(
    'a certificate that names a private document: only its statements about agents are read, and the answer is the same',
    async (t) => {
      const port = Number(new URL(world.base).port)
      const answers = []
      for (const path of [large, '/never-existed/']) {
        const pem = await agentCertificate(port, `${world.origin}${path}#me`, 'forged')
        const client = makeClient({ port, ca: world.ca, pem })
        t.same(await trace(client, 'GET', '/'), [400, `profile ${path}`])
        answers.push((await client('GET', '/')).text)
        client.close()
      }
      t.equal(answers[0], answers[1])
    },
  )
  await properties(t, stores.endUser)
})

/** A private document of about a megabyte, written behind the gateway. */
async function makeLarge(world: World, store: GraphStore): Promise<string> {
  const path = world.freshPath()
  const iri = world.origin + path
  const lines = Array.from({ length: 10_000 }, (_, i) => `<${iri}#${i}> <http://e/p> "${'x'.repeat(50)} ${i}" .\n`)
  const failed = await store.replace(iri, `<${iri}> ${RDF_TYPE} <http://e/Private> .\n${lines.join('')}`)
  if (failed) throw new Error(failed.detail)
  return path
}

const FACTS = fc.record({
  types: fc.subarray(['http://e/Open', 'http://e/Other', `https://www.w3.org/ns/ldt/document-hierarchy#Container`]),
  owners: fc.subarray(['https://alice/#me', 'https://bob/#me']),
  others: fc.subarray(['http://e/Open', 'http://e/Other']),
  isLong: fc.boolean(),
})
const withoutDecisions = ({ iri, types, owners, lastModified }: DocumentFacts): object => ({
  ...{ iri, lastModified, types: [...types].sort(), owners: [...owners].sort() },
})

async function properties(t: Test, store: GraphStore): Promise<void> {
  await t.test('the excerpt has the same facts as the whole document', async () => {
    const base = 'https://facts.example/'
    let count = 0
    await fc.assert(
      fc.asyncProperty(FACTS, async ({ types, owners, others, isLong }) => {
        const iri = `${base}d${count++}/`
        const text = [
          ...types.map((type) => `<${iri}> ${RDF_TYPE} <${type}> .`),
          ...owners.map((owner) => `<${iri}> ${OWNER} <${owner}> .`),
          ...others.map((type) => `<${iri}#x> ${RDF_TYPE} <${type}> .`),
          `<${iri}> <http://purl.org/dc/terms/created> "2026-01-02T03:04:05Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .`,
          `<${iri}#x> <http://e/p> "a text with <${iri}> ${RDF_TYPE} <http://e/Open> in it" .`,
          ...(isLong ? [`<${iri}#x> <http://e/long> "${'long '.repeat(20_000)}" .`] : []),
        ]
        await store.replace(iri, text.map((line) => `${line}\n`).join(''))
        const [facts, whole] = [await askFacts(store, iri, base), await store.read(iri)]
        if (!facts || isFailure(facts) || whole === undefined || isFailure(whole)) return false
        const document = documentOf(iri, base, graphOf(readStored(whole) as []), 'key')
        await store.remove(iri)
        const gone = await askFacts(store, iri, base)
        return (
          gone === undefined && JSON.stringify(withoutDecisions(facts)) === JSON.stringify(withoutDecisions(document))
        )
      }),
      { numRuns: 20 },
    )
  })
  await t.test('an agent who may read a document with the fewest facts may read one with any facts', async () => {
    const iri = `${BASE}c/doc/`
    const agents = ['https://alice/#me', 'https://bob/#me', undefined]
    const statements = fc.record(
      {
        agent: fc.constantFrom('https://alice/#me', 'https://bob/#me'),
        agentClass: fc.constantFrom('http://xmlns.com/foaf/0.1/Agent', `${ACL}AuthenticatedAgent`),
        accessTo: fc.constantFrom(iri, `${BASE}c/`),
        default: fc.constantFrom(`${BASE}c/`, BASE),
        accessToClass: fc.subarray([
          'http://e/Open',
          'https://www.w3.org/ns/ldt/document-hierarchy#Item',
          'https://www.w3.org/ns/ldt/document-hierarchy#Container',
        ]),
        mode: fc.constantFrom<Mode>('Read', 'Write', 'Append'),
      },
      { requiredKeys: ['mode'] },
    )
    fc.assert(
      fc.property(fc.array(statements, { maxLength: 4 }), FACTS, fc.constantFrom(...agents), (rules, facts, agent) => {
        const index = makeAuthorizationIndex(ADMIN)
        rules.forEach((rule, i) => {
          const graph = `${ADMIN}acl/authorizations/${i}/`
          const stated: Fact[] = authorization(`${graph}#this`, rule as Parameters<typeof authorization>[1])
          replaceGraph(index, graph, stated)
        })
        const mayRead = ({ types, owners }: Pick<DocumentFacts, 'types' | 'owners'>) =>
          decide(index, question(agent, 'Read', document(iri, { types, owners }))).allowed
        const anyway = leastFacts(iri, BASE).every(mayRead)
        const kinds = facts.types.includes('https://www.w3.org/ns/ldt/document-hierarchy#Container')
          ? facts.types
          : [...facts.types, 'https://www.w3.org/ns/ldt/document-hierarchy#Item']
        return !anyway || mayRead({ types: kinds, owners: facts.owners })
      }),
      { numRuns: 500 },
    )
  })
}
