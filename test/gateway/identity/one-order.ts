// Checks that each request gets a single decision (design 1): generated credentials, rules and requests get the same
// responses with an empty cache, in which every step waits, and with a full one, in which none does.
import { X509Certificate } from 'node:crypto'
import fc from 'fast-check'
import type { Test } from 'tap'
import { handle } from '../../../gateway/handle.js'
import type { Request, Response } from '../../../gateway/http/exchange.js'
import type { Gateway } from '../../../gateway/gateway.js'
import { turtle, ttl, type World } from '../../support/world.js'

export interface Credentials {
  /** Values of the Cookie field. */
  readonly cookies: Readonly<Record<string, string>>
  /** Values of the Authorization field. */
  readonly authorizations: Readonly<Record<string, string>>
  /** Values of the On-Behalf-Of field. */
  readonly principals: Readonly<Record<string, string>>
}

const CASES = 300
const PATHS = ['/one/', '/two/', '/one/', '/absent/', '/one', '/one/?version=abcd', '/sparql', '/access', '/%2f/']
const METHODS = ['GET', 'HEAD', 'GET', 'PUT', 'PATCH', 'OPTIONS', 'FROB'] as const
const ACCEPTS = [undefined, 'text/turtle', 'application/n-triples', 'image/png', 'application/ld+json;q=0.5'] as const
const AGENTS = ['reader', 'writer', 'stranger', 'anonymous'] as const
/** Refused after the decision: a successful write would change the next cases. */
const UNSENT = { 'content-type': 'text/plain' }

interface Asked {
  readonly method: string
  readonly path: string
  readonly fields: Readonly<Record<string, string>>
  /** The name of an agent, or of another presented credential. */
  readonly certificate: string
}

type Certificates = Readonly<Record<string, Uint8Array | undefined>>

interface Seen {
  readonly status: number
  readonly fields: readonly string[]
  readonly body: string
  readonly log: object
}

const defined = (fields: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined))

export async function oneOrder(t: Test, world: World, credentials: Credentials): Promise<void> {
  const { gateway } = world.running
  const owner = world.as('owner')
  const rule = `/admin/acl/authorizations/one-order/`
  for (const path of ['/one/', '/two/']) await owner('PUT', path, ttl(turtle(`"${path}"`)))
  const ders = Object.fromEntries(
    ['owner', 'reader', 'writer', 'stranger'].map((name) => [name, new X509Certificate(world.pemOf(name)).raw]),
  )
  const certificates: Certificates = { none: undefined, ...ders, garbage: Buffer.from('no certificate') }
  const oneOf = <Value>(values: Readonly<Record<string, Value>>) => fc.constantFrom(...Object.values(values))
  const rarely = <Value>(values: fc.Arbitrary<Value>) =>
    fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: values })
  const rules = fc.record({
    mode: fc.constantFrom('Read', 'Append', 'Write', 'Control'),
    agent: fc.constantFrom(...AGENTS),
    on: fc.constantFrom('/one/', '/two/', '/absent/'),
  })
  const asked: fc.Arbitrary<Asked> = fc.record({
    method: fc.constantFrom(...METHODS),
    path: fc.constantFrom(...PATHS),
    certificate: fc.constantFrom(...Object.keys(certificates)),
    fields: fc
      .record({
        accept: fc.constantFrom(...ACCEPTS),
        authorization: rarely(oneOf(credentials.authorizations)),
        cookie: rarely(oneOf(credentials.cookies)),
        'on-behalf-of': rarely(oneOf(credentials.principals)),
        'if-none-match': fc.constantFrom(undefined, undefined, '*', '"a"', 'a'),
      })
      .map(defined),
  })

  const ask = async (one: Asked): Promise<Seen> => {
    const before = world.log.length
    const request = requestOf(one, certificates, world)
    const response = await handle(request, gateway)
    // Only the log line of the answer: the watchdog may log about any request at any time, depending on the machine.
    const lines = world.log.slice(before).filter(({ id, status }) => id === request.id && status !== undefined)
    return seenOf(response, lines)
  }
  let synchronous = 0
  const property = fc.asyncProperty(fc.option(rules, { freq: 1 }), asked, async (given, one) => {
    if (given) {
      const { mode, agent, on } = given
      const everyone = 'acl:agentClass <http://xmlns.com/foaf/0.1/Agent>'
      const whom = agent === 'anonymous' ? everyone : `acl:agent <${world.webIdOf(agent)}>`
      const authorization = `@prefix acl: <http://www.w3.org/ns/auth/acl#> . <#this> a acl:Authorization ;
        acl:mode acl:${mode} ; ${whom} ; acl:accessTo <${world.origin}${on}> .`
      const { status } = await owner('PUT', rule, ttl(authorization))
      if (status >= 300) throw new Error(`the rule was refused with ${status}`)
    }
    forget(gateway)
    const cold = await ask(one)
    const warm = await ask(one)
    const again = handle(requestOf(one, certificates, world), gateway)
    if (!(again instanceof Promise)) synchronous++
    const third = seenOf(await again, [])
    return (
      JSON.stringify(cold) === JSON.stringify(warm) &&
      JSON.stringify({ ...cold, log: {} }) === JSON.stringify({ ...third, log: {} })
    )
  })
  const outcome = await fc.check(property, { numRuns: CASES, endOnFailure: false })
  t.notOk(outcome.failed, fc.defaultReportMessage(outcome) ?? `seed ${outcome.seed}`)
  if (process.env.TRIPLEGATE_TEST_CACHE !== 'off')
    t.ok(synchronous > CASES / 10, `${synchronous} synchronous responses`)
}

/** Empties the caches of documents, profiles, accounts and statements. */
function forget({ dataspaces, webIds }: Gateway): void {
  webIds.clear()
  for (const { endUser, admin } of dataspaces) {
    endUser.cache.versions.everythingChanged()
    admin.cache.versions.everythingChanged()
  }
}

let count = 0
function requestOf({ method, path, fields, certificate }: Asked, certificates: Certificates, world: World): Request {
  const { base, running } = world
  return {
    id: `one-order-${++count}`,
    method,
    requestTarget: path,
    fields: {
      host: new URL(base).host,
      ...(method === 'PUT' || method === 'PATCH' ? UNSENT : {}),
      ...fields,
    },
    hosts: 1,
    certificate: certificates[certificate],
    receivedAt: running.gateway.now(),
    isAdmitted: true,
    signal: () => new AbortController().signal,
    address: () => '192.0.2.1',
    network: () => '192.0.2.1',
    readBody: () => Promise.resolve(Buffer.from('no RDF')),
    hold: () => true,

    async *streamBody() {
      throw new Error('not read')
    },
  }
}

const CLOCK = ['Age', 'Date', 'X-Request-ID']

/** The parts of a response that a client and the log see, without those that depend on the clock. */
function seenOf({ status, fields, ready, body }: Response, lines: readonly object[]): Seen {
  const all = [...(ready ? ready.head.fields : []), ...fields].filter(([name]) => !CLOCK.includes(name))
  const bytes = Buffer.isBuffer(body) ? body.toString() : body === undefined ? '' : 'streamed'
  const log = lines.map((line) => {
    const { agent, delegate, decision, problem, cause } = line as Record<string, unknown>
    return { agent, delegate, decision, problem, cause }
  })
  return {
    status,
    fields: all.map(([name, value]) => `${name}: ${value}`).sort(),
    body: bytes,
    log,
  }
}
