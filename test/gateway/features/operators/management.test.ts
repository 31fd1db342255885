// The management listener serves programs of this machine: no page of another site can read or change anything through
// it.
import { request } from 'node:http'
import t from 'tap'
import { makeManagement } from '../../../../gateway/features/operators/management.js'
import { listen } from '../../../../gateway/http/listener.js'
import { problemResponse } from '../../../../gateway/request/respond.js'
import { membersOf, type Application } from '../../../../gateway/gateway.js'
import { openEmbeddedStore } from '../../../../gateway/stores/embedded-store.js'
import { rowsOf } from '../../../support/stores.js'
import { makeWorld } from '../../../support/world.js'

type Fields = Readonly<Record<string, string>>

void t.test('the management listener', async (t) => {
  const row = rowsOf(t, 'none')
  const stores = { endUser: await openEmbeddedStore('end-user'), admin: await openEmbeddedStore('admin') }
  t.teardown(() => Promise.all([stores.endUser.close(), stores.admin.close()]))
  const world = await makeWorld(t, stores, {})
  const { gateway, dataspaces } = world.running
  const settings = { data: '.', historyDelay: 0, monitoringToken: undefined }
  const { management } = makeManagement(dataspaces, gateway, settings)
  const common = { problemResponse, now: Date.now, nextId: () => 'id', host: '127.0.0.1' }
  const { port, inject, close } = await listen({ ...common, port: 0 }, management('the key'))
  t.teardown(() => close(0))

  const send = async (method: string, url: string, headers: Fields) => {
    const sent = await inject({ method: method as 'GET', url, headers })
    return { status: sent.statusCode, text: sent.body, fields: sent.headers }
  }
  /** The fields exactly as given, with no Host unless given. */
  const overSocket = (method: string, path: string, headers: Fields): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, method, path, headers, setHost: false }, (answer) => {
        answer.resume()
        resolve(answer.statusCode!)
      })
      sent.on('error', reject).end()
    })

  const own = `localhost:${port}`
  const write = { 'Triplegate-Management': '1' }
  const rows: readonly [name: string, method: string, path: string, fields: Fields, status: number, error?: RegExp][] = [
    ['this machine by name', 'GET', '/health/live', { Host: own }, 200],
    ['this machine by address', 'GET', '/health/live', { Host: `127.0.0.1:${port}` }, 200],
    ['this machine by its IPv6 address', 'GET', '/metrics', { Host: `[::1]:${port}` }, 200],
    ['a tunnel with its own port', 'GET', '/metrics', { Host: 'localhost:1234' }, 200],
    ['a name that another server resolves to this machine', 'GET', '/metrics', { Host: `evil.example:${port}` }, 421, /Use localhost/],
    ['a name that begins like this machine', 'GET', '/metrics', { Host: 'localhost.evil.example' }, 421],
    ['a name that begins like its address', 'GET', '/metrics', { Host: '127.0.0.1.evil.example' }, 421],
    ['a page of another site reads', 'GET', '/metrics', { Host: own, 'Sec-Fetch-Site': 'cross-site' }, 403, /another site/],
    ['a page of another port reads', 'GET', '/metrics', { Host: own, Origin: 'http://localhost:3000' }, 403],
    ['a page without an origin reads', 'GET', '/metrics', { Host: own, Origin: 'null' }, 403],
    ['a person opens it in a browser', 'GET', '/metrics', { Host: own, 'Sec-Fetch-Site': 'none' }, 200],
    ['a form of another site purges', 'POST', '/purge', { Host: own, Origin: 'https://evil.example' }, 403, /another site/],
    ['a form of another site purges, with the field', 'POST', '/purge', { Host: own, Origin: 'https://evil.example', ...write }, 403],
    ['purge at a foreign name', 'POST', '/purge', { Host: 'evil.example', ...write }, 421],
    ['sweep at a foreign name', 'POST', '/mirror/sweep?force=true', { Host: 'evil.example', ...write }, 421],
    ['purge without the field', 'POST', '/purge', { Host: own }, 403, /Triplegate-Management: 1/],
    ['sweep without the field', 'POST', '/mirror/sweep?force=true', { Host: own }, 403, /Triplegate-Management: 1/],
    ['verify without the field', 'POST', '/mirror/verify', { Host: own }, 403, /Triplegate-Management: 1/],
    ['the page for operators', 'GET', '/', { Host: own }, 200, /<h1>Triplegate for operators/],
    ['the page for operators, inside a page of another site', 'GET', '/', { Host: own, 'Sec-Fetch-Site': 'cross-site' }, 403],
    ['the form of that page purges', 'POST', '/purge', { Host: own, Origin: `http://${own}`, 'Sec-Fetch-Site': 'same-origin' }, 303, /^$/],
    ['the form, sent by a page of another port', 'POST', '/purge', { Host: own, Origin: 'http://localhost:1', 'Sec-Fetch-Site': 'same-site' }, 403],
    ['the form, at a name of this machine that is another origin', 'POST', '/purge', { Host: own, Origin: `http://127.0.0.1:${port}`, 'Sec-Fetch-Site': 'same-origin' }, 403],
    ['the form, without Sec-Fetch-Site', 'POST', '/purge', { Host: own, Origin: `http://${own}` }, 403, /Triplegate-Management: 1/],
    ['the form, without Origin', 'POST', '/purge', { Host: own, 'Sec-Fetch-Site': 'same-origin' }, 403, /Triplegate-Management: 1/],
    ['a sweep has no form: the field or nothing', 'POST', '/mirror/sweep', { Host: own }, 403],
    ['purge by a program', 'POST', '/purge', { Host: own, ...write }, 200],
    ['a path that it does not have', 'GET', '/metric', { Host: own }, 404, /Use one of/],
    ['a path that has two readings', 'GET', '/health%2Flive', { Host: own }, 404, /Use one of/],
    ['a method of another path', 'GET', '/purge', { Host: own }, 405, /Use POST/],
    ['a method that it does not have', 'DELETE', '/metrics', { Host: own }, 405, /Use GET or HEAD/],
    ['HEAD has no content', 'HEAD', '/metrics', { Host: own }, 200, /^$/],
    ['a file that its page does not have', 'GET', '/static/none.css', { Host: own }, 404],
    ['verify by a program: there is no history', 'POST', `/mirror/verify?application=https://x/`, { Host: own, ...write }, 404],
  ] // prettier-ignore
  for (const [name, method, path, fields, status, error = /./] of rows) {
    await row(`${name}: ${status}`, async (t) => t.match(await send(method, path, fields), { status, text: error }))
  }
  await row('a purge empties every cache of the gateway and its applications', async (t) => {
    const caches = ({ cache }: Application) => [cache.decisions.size, cache.graphRights.size]
    const held = () => [
      ...Object.values(gateway.caches).map(({ bytes }) => bytes()),
      ...membersOf(dataspaces).flatMap(({ application }) => caches(application)),
    ]
    await world.as('owner')('GET', `/sparql?query=${encodeURIComponent('SELECT * { GRAPH ?g { ?s ?p ?o } }')}`)
    const fields = { accept: 'text/html', 'accept-encoding': 'gzip', 'accept-language': 'de' }
    await world.as('reader')('GET', '/', { fields })
    t.ok(held().filter((size) => size > 0).length >= 6, String(held()))
    await send('POST', '/purge', { Host: own, ...write })
    t.same(new Set(held()), new Set([0]))
  })
  await row('only the page may run anything', async (t) => {
    const confined = "default-src 'none'; sandbox"
    for (const path of ['/health/live', '/metrics', '/nothing', '/static/none', '/'])
      t.equal(
        (await send('GET', path, { Host: own })).fields['content-security-policy'] === confined,
        path !== '/',
        path,
      )
  })
  await row('no Host: 421', async (t) => t.equal(await overSocket('GET', '/metrics', {}), 421))
  await row('metrics name the longest holds of the event loop', async (t) => {
    const { text } = await send('GET', '/metrics', { Host: own })
    t.match(text, /^triplegate_event_loop_longest_hold_seconds\{since="start"\} \d/m)
    t.match(text, /^triplegate_event_loop_longest_hold_seconds\{since="minute"\} \d/m)
    t.match(text, /^triplegate_event_loop_holds_total \d/m)
  })
})
