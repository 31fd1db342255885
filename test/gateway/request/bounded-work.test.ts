// Design 7: long work of one client is refused or done in threads, and others are answered meanwhile.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { RDF_FORMATS } from '../../../gateway/http/media-type.js'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import { quickest, until } from '../../support/wait.js'
import { accept, makeWorld, ttl, turtle, update } from '../../support/world.js'

const times = (text: string, count: number): string => text.repeat(count)

void t.test('bounded work', async (t) => {
  const [endUser, admin] = await Promise.all([
    openEmbeddedStore('end-user', { queryTimeout: 700 }),
    openEmbeddedStore('admin'),
  ])
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  let fetched = 0
  const contexts = createServer((_, response) => {
    fetched++
    response.end('{"@context":{"p":"http://e/p"}}')
  }).listen(0, '127.0.0.1')
  t.teardown(() => contexts.close())
  const flags = ['--allow-fetch', '127.0.0.0/8', '--patch-timeout', '1000', '--reading-timeout', '20000']
  const world = await makeWorld(t, { endUser, admin }, { flags, isHasty: true })
  const [owner, writer, anonymous] = [world.as('owner'), world.as('writer'), world.as('anonymous')]

  const dots = `http://h/${times('a/../', 6000)}`
  const rdf = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/"'
  const form = `rdf=&v=${encodeURIComponent(dots)}&su=&pu=http%3A%2F%2Fe%2Fp${times('&ov=a', 600)}`
  const signUp = `${new URL(world.running.gateway.dataspaces[0]!.admin.base).pathname}sign%20up?download`
  // prettier-ignore
  const rows: [name: string, target: string, contentType: string, body: string][] = [
    ['a long @base', '/a/', 'text/turtle', `@base <${dots}> . ${times('<a> <b> <c> .', 600)}`],
    ['a long namespace of RDF/POST', '/a/', 'application/x-www-form-urlencoded', form],
    ['a long xml:base', '/a/', 'application/rdf+xml', `<rdf:RDF xml:base="${dots}" ${rdf}>${times('<e:T rdf:about="a"/>', 600)}</rdf:RDF>`],
    ['a long @base of JSON-LD', '/a/', 'application/ld+json', `{"@context":{"@base":"${dots}"},"@id":"x","http://e/p":1}`],
    ['a long BASE', '/sparql', 'application/sparql-query', `BASE <${dots}> ASK { ?s ?p ${times('<.>,', 600)} 1 }`],
    ['a long PREFIX', '/sparql', 'application/sparql-query', `PREFIX p: <${dots}> ASK { ?s ?p ${times('p:a,', 600)} 1 }`],
    ['deep groups', '/sparql', 'application/sparql-query', `ASK {${times('{', 8000)}${times('}', 8000)}}`],
    ['deep NOT EXISTS', '/sparql', 'application/sparql-query', `ASK {${times('FILTER NOT EXISTS {', 200)}${times('}', 200)}}`],
    ['deep paths', '/sparql', 'application/sparql-query', `ASK { ?s ${times('(', 200)}<a>${times(')', 200)} ?o }`],
    ['a prefix that makes a query long', '/sparql', 'application/sparql-query', `PREFIX p: <http://h/${times('a', 2000)}> ASK { ?s ?p ${times('p:a,', 9000)} 1 }`],
  ]
  for (const [name, target, contentType, body] of rows) {
    const took = await quickest(2_000, async () => {
      const answer = await owner(target === '/a/' ? 'PUT' : 'POST', target, {
        fields: { 'Content-Type': contentType },
        body,
      })
      t.equal(answer.status, 400, `${name}: ${answer.text}`)
    })
    t.ok(took < 2_000, `${name} is refused soon`)
  }

  const remote = `http://127.0.0.1:${(contexts.address() as AddressInfo).port}/context`
  const withContext = {
    fields: { 'Content-Type': 'application/ld+json' },
    body: `{"@context":"${remote}","@id":"","p":1}`,
  }
  const refused = await anonymous('POST', signUp, withContext)
  t.equal(refused.status, 400, refused.text)
  t.match(refused.text, /only for identified agents/)
  t.equal(fetched, 0, 'no context is fetched for an anonymous client')
  t.equal((await owner('PUT', '/context/', withContext)).status, 201)
  t.equal((await owner('PUT', '/context/', withContext)).status, 200)
  t.equal(fetched, 1, 'a context is fetched for an agent once')

  const numbers = Array.from({ length: 9 }, (_, i) => `VALUES ?v${i} { 0 1 2 3 4 5 6 7 8 9 }`).join(' ')
  const slow = update(`INSERT { <> <http://e/p> ?n } WHERE { { SELECT (COUNT(*) AS ?n) { ${numbers} } } }`)
  for (const path of ['/slow/', '/quick/']) await owner('PUT', path, ttl(turtle('"a"')))
  let ended = 0
  const patches = Array.from({ length: 6 }, async (_, i) => {
    const path = `/slow${i}/`
    await owner('PUT', path, ttl(turtle('"a"')))
    const answer = await owner('PATCH', path, slow)
    // Jobs that waited too long were never started.
    if (answer.status === 413) ended++
    return answer
  })
  // All of them are running or waiting. On a stalling machine they may have ended.
  await new Promise((resolve) => setTimeout(resolve, 200))
  const before = ended
  const quick = writer('PATCH', '/quick/', update('INSERT { <> <http://e/p> 1 } WHERE {}'))
  await quick
  t.ok(before === 6 || ended < 6, 'the PATCH of another agent is answered while slow ones wait')
  const isDone = async (): Promise<boolean> =>
    (await writer('PATCH', '/quick/', update('INSERT { <> <http://e/p> 1 } WHERE {}'))).status === 204
  t.ok((await quick).status === 204 || ((await quick).status === 503 && (await until(isDone))), 'and done')
  const statuses = new Set((await Promise.all(patches)).map(({ status }) => status))
  t.ok(
    [...statuses].every((status) => status === 413 || status === 503),
    'above the limit, or have waited too long',
  )
  const values = (name: string): string =>
    `ASK { VALUES ?v { ${times('"abcdefghijk" ', 30_000)} } FILTER(?v = "${name}") }`
  const ask = (body: string) => ({ fields: { 'Content-Type': 'application/sparql-query' }, body })
  let answered = 0
  const queries = Array.from({ length: 4 }, (_, i) =>
    owner('POST', '/sparql', ask(values(String(i)))).then(() => answered++),
  )
  const short = ask(`ASK { ${times('{}', 1000)} }`)
  const other = await writer('POST', '/sparql', short)
  t.ok(answered < 4, 'a query of another agent is answered while long ones wait')
  const isAnswered = async (): Promise<boolean> => (await writer('POST', '/sparql', short)).status === 200
  t.ok(other.status === 200 || (await until(isAnswered)), 'in the time of the store')
  await Promise.all(queries)

  ended = 0
  const endless = (name: string): string =>
    `SELECT (COUNT(*) AS ?${name}) { ${numbers} ${numbers.replaceAll('?v', '?w')} }`
  const long = Array.from({ length: 5 }, (_, i) => owner('POST', '/sparql', ask(endless(`n${i}`))).then(() => ended++))
  // All of them are running or waiting, or have ended on a stalling machine.
  await new Promise((resolve) => setTimeout(resolve, 200))
  const endedBefore = ended
  const fair = ask('ASK { ?s ?p "fair" }')
  const { status } = await writer('POST', '/sparql', fair)
  const meanwhile = ended - endedBefore
  t.ok(meanwhile < 3, `the embedded store has ended ${meanwhile} long queries of one agent before it answers another`)
  t.ok(status === 200 || (await until(async () => (await writer('POST', '/sparql', fair)).status === 200)))
  await Promise.all(long)

  const large = Array.from({ length: 6000 }, (_, i) => `<#t${i}> <http://e/p> "${i}", <#t${i + 1}> .\n`).join('')
  t.equal((await owner('PUT', '/large/', ttl(large))).status, 201)
  for (const { mediaType } of RDF_FORMATS) {
    const [one, two, conditional] = await Promise.all([
      owner('GET', '/large/', accept(mediaType)),
      owner('GET', '/large/', accept(mediaType)),
      owner('HEAD', '/large/', accept(mediaType)),
    ])
    t.equal(one.status, 200, mediaType)
    t.equal(one.text, two.text, `${mediaType}: the same bytes for all who wait`)
    t.equal(one.fields['content-length'], conditional.fields['content-length'], `${mediaType}: HEAD`)
    t.equal(
      (await owner('PUT', '/copy/', { fields: { 'Content-Type': mediaType }, body: one.text })).status < 300,
      true,
    )
  }
})
