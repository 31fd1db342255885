// The memory for cached restricted queries of an agent with many rights is bounded, however short the queries are.
import t from 'tap'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openEmbeddedStore } from '../../../../gateway/stores/embedded-store.js'
import { makeWorld, ttl } from '../../../support/world.js'

const GRAPHS = 2000
const QUERIES = 200

void t.test('cached queries', async (t) => {
  const [endUser, admin] = await Promise.all([openEmbeddedStore('end-user'), openEmbeddedStore('admin')])
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  const world = await makeWorld(t, { endUser, admin })
  const { base, webIdOf } = world
  const graphs = Array.from({ length: GRAPHS }, (_, n) => `<urn:graph:${'x'.repeat(100)}:${n}>`).join(', ')
  const rights = `a acl:Authorization ; acl:mode acl:Read ; acl:agent <${webIdOf('stranger')}> ; acl:accessTo <${base}sparql>, ${graphs}`
  const rules = ttl(`@prefix acl: <http://www.w3.org/ns/auth/acl#> . <#this> ${rights} .`)
  t.equal((await world.as('owner')('PUT', '/admin/acl/authorizations/many/', rules)).status, 201)
  const ask = async (n: number): Promise<void> => {
    const query = encodeURIComponent(`SELECT * { GRAPH ?g { <urn:n${n}> ?p ?o } }`)
    const { status, text } = await world.as('stranger')('GET', `/sparql?query=${query}`)
    if (status !== 200) throw new Error(`${status} ${text}`)
  }
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heap = (): number => {
    collect()
    return process.memoryUsage().heapUsed
  }
  await ask(0)
  const before = heap()
  for (let n = 1; n <= QUERIES; n++) await ask(n)
  // The conditions alone are more than 200 KB for each query.
  t.ok(heap() - before < 25e6, `${((heap() - before) / 1e6).toFixed(0)} MB`)
})
