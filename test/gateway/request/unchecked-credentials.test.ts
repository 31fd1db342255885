// A credential that cannot be checked now is not wrong: 503 with Retry-After, and the next request is checked again.
// Answers that are the same for everyone need no credential and no store.
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { failure } from '../../../policies/failure.js'
import { makeIssuerKeys } from '../../../policies/identity/bearer-token.js'
import { makeProfileStatements } from '../../../policies/identity/profile-statement.js'
import type { ProfileFailure } from '../../../policies/identity/webid.js'
import { problem } from '../../../gateway/problem.js'
import { iri, triple } from '../../../gateway/rdf/graph.js'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { agentCertificate } from '../../support/certificates.js'
import { makeClient } from '../../support/client.js'
import { rowsOf } from '../../support/stores.js'
import { makeWorld } from '../../support/world.js'

void t.test('credentials that cannot be checked now', async (t) => {
  const row = rowsOf(t, 'none')
  const [endUser, real] = [await openEmbeddedStore('end-user'), await openEmbeddedStore('admin')]
  t.teardown(() => Promise.all([endUser.close(), real.close()]))
  let isDown = false
  const down = problem('store.unreachable', 'The triplestore cannot be reached.')
  const admin: GraphStore = {
    ...real,
    excerpt: (graph, kind, call) => (isDown ? Promise.resolve(down) : real.excerpt(graph, kind, call)),
  }
  const world = await makeWorld(
    t,
    { endUser, admin },
    { isHasty: true, flags: ['--allow-fetch', '127.0.0.1/32', '--cache', 'off'] },
  )
  world.stopClock(t)
  const { port } = new URL(world.base)
  const clientOf = (pem: string) => {
    const client = makeClient({ port: Number(port), ca: world.ca, pem })
    t.teardown(() => client.close())
    return client
  }

  await row('the store of a profile is down: 503, and accepted again at once', async (t) => {
    isDown = true
    const refused = await world.as('stranger')('GET', '/')
    t.equal(refused.status, 503)
    t.match(refused.fields['retry-after'], /^\d+$/)
    t.notMatch(refused.text, /does not prove/)
    const style = /href="(\/static\/[^"]+\.css)"/.exec(refused.text)?.[1] ?? '/static/none'
    const file = await world.as('stranger')('GET', style)
    t.notMatch(file.status, 503, 'a file of the pages needs no store')
    isDown = false
    t.equal((await world.as('stranger')('GET', '/')).status, 403, 'nothing was remembered')
  })

  await row('the server of a profile elsewhere fails: 503, and accepted again at once', async (t) => {
    let answer: readonly [status: number, text: string] = [503, '']
    const server = createServer((_request, response) =>
      response.writeHead(answer[0], { 'Content-Type': 'text/turtle' }).end(answer[1]),
    ).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const document = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const pem = await agentCertificate(Number(port), `${document}#me`, 'elsewhere')
    const client = clientOf(pem)
    for (const status of [503, 500, 429]) {
      answer = [status, '']
      const refused = await client('GET', '/')
      t.equal(refused.status, 503, `${status}`)
      t.match(refused.fields['retry-after'], /^\d+$/)
    }
    answer = [404, '']
    t.equal((await client('GET', '/')).status, 400, 'there is no such profile: that is known')
  })

  await row('statements of a profile, and the keys of an issuer, are requested again', async (t) => {
    let profile: ProfileFailure | 'read' = failure('unreachable', 'away')
    const of = 'https://agent.example/#me'
    const statements = makeProfileStatements({
      readProfile: () =>
        Promise.resolve(
          profile === 'read'
            ? [triple(of, 'http://www.w3.org/ns/solid/terms#oidcIssuer', iri('https://issuer.example'))]
            : profile,
        ),
      lifetime: 60_000,
      now: () => 0,
    })
    const asking = { network: () => 'n' }
    t.match(await statements.hasIssuer(of, 'https://issuer.example', asking), { failure: 'unreachable' })
    profile = 'read'
    t.equal(await statements.hasIssuer(of, 'https://issuer.example', asking), true)

    let [time, asked] = [0, 0]
    const keys = makeIssuerKeys(
      'https://issuer.example',
      () => (asked++, Promise.resolve(failure('unavailable', 'away'))),
      () => time,
    )
    const ask = () => Promise.resolve(keys({ alg: 'ES256' }, { payload: '', signature: '' })).catch(() => undefined)
    await ask()
    time = 1_500
    await ask()
    t.equal(asked, 2, 'as soon as clients are told to come back')
  })
})
