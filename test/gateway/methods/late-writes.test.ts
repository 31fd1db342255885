// A write without an answer, which the store carries out late: after the next write has read the document. On a real
// Fuseki.
import t from 'tap'
import { LOG_GRAPH } from '../../../gateway/stores/fenced-update.js'
import { fusekiEndpoints, openHttpStore } from '../../../gateway/stores/http-store.js'
import { many } from '../../support/growth.js'
import { startProxy, type Recorded } from '../../support/proxy.js'
import { freshDataset, reasonWithoutFuseki, rowsOf } from '../../support/stores.js'
import { A_MINUTE, until } from '../../support/wait.js'
import { accept, makeWorld, ttl, turtle } from '../../support/world.js'

const LARGE = many(200_000, (i) => `<#${i}> <urn:p> "${i}" .\n`)

void t.test('late writes', async (t) => {
  const missing = await reasonWithoutFuseki()
  if (missing) return t.test('late writes (fuseki)', { skip: missing }, () => undefined)
  const row = rowsOf(t, 'fuseki')
  const isWrite = ({ method, fields }: Recorded): boolean =>
    method === 'PUT' || fields['content-type'] === 'application/sparql-update'
  for (const isLogged of [false, true])
    await row(
      isLogged ? 'with a history, it is done before the next write, once' : 'the next write leaves nothing of it',
      async (t) => {
        const dataset = await freshDataset(t)
        const proxy = await startProxy(dataset)
        const endUser = openHttpStore({
          ...fusekiEndpoints(proxy.url),
          headersTimeout: A_MINUTE,
          idleTimeout: A_MINUTE,
        })
        const admin = openHttpStore(fusekiEndpoints(await freshDataset(t)))
        t.teardown(() => Promise.all([endUser.close(), admin.close()]).then(() => proxy.stop()))
        /** The store carries out the write that the gateway has abandoned. */
        const doNow = async ({ method, path, fields, body }: Recorded): Promise<void> => {
          const headers = { 'Content-Type': fields['content-type']! }
          const { ok } = await fetch(new URL(path, dataset), { method, headers, body })
          if (!ok) throw new Error('the store has not done the write')
        }
        const world = await makeWorld(t, { endUser, admin }, { flags: isLogged ? ['--history', 'local'] : [] })
        const [owner, path] = [world.as('owner'), world.freshPath()]
        const isLeft = async (title: string): Promise<void> => {
          const stored = await endUser.read(world.origin + path)
          const { text } = await owner('GET', path, accept('application/n-triples'))
          for (const found of [stored, text]) t.same(String(found).match(/(?<=title> ")\w+/g), [title])
        }
        const content = (title: string) => ttl(LARGE + turtle(`"${title}"`))
        t.equal((await owner('PUT', path, content('first'))).status, 201)
        const { history } = world.running.dataspaces[0]!.endUser
        // A long document is sent alone; the position in the store is set after it.
        if (history) await until(async () => `${await endUser.read(LOG_GRAPH)}`.includes(`"${history.log.position()}"`))
        proxy.requests.length = 0
        // The connection of this write breaks, however long the store takes for the others.
        proxy.fault({ kind: 'drop', when: 'before', only: isWrite })
        t.equal((await owner('PUT', path, content('late'))).status, 502)
        const late = proxy.requests.find(isWrite)!
        t.match(late.body, isLogged ? /^PREFIX[^{]*DELETE \{/ : /^DELETE DATA/, 'only the lines that change were sent')
        t.ok(late.body.length < 2000)
        if (isLogged) {
          t.equal((await owner('PUT', path, content('early'))).status, 503, 'not while the store does not answer')
          proxy.fault(undefined)
          await Promise.all([doNow(late), doNow(late), until(() => history!.status().inDoubt === 0)])
          await doNow(late)
          await isLeft('late')
          t.equal((await owner('PUT', path, content('next'))).status, 200)
          await doNow(late)
          return isLeft('next')
        }
        let done: (over: Promise<void>) => void
        const over = new Promise<void>((resolve) => (done = resolve))
        // The next write has read the document, and is not sent to the store until the earlier one is done.
        proxy.fault({ kind: 'held', until: over, only: (request) => isWrite(request) && (done(doNow(late)), true) })
        t.equal((await owner('PUT', path, content('next'))).status, 200)
        proxy.fault(undefined)
        await isLeft('next')
      },
    )
})
