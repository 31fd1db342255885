// Memento over HTTP (RFC 7089, pattern 2.1: a TimeGate apart from the original, 302, mementos with URIs of their own),
// as in spec 4.5, 7 and 9.3 to 9.6: on a running gateway with a real repository.
import { Parser } from 'n3'
import t, { type Test } from 'tap'
import type { History } from '../../../versioning/history.js'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import type { TimeMapJson } from '../../../gateway/memento/time-map.js'
import { accept, makeWorld, ttl, turtle, type World } from '../../support/world.js'
import type { Answer } from '../../support/client.js'
import { many } from '../../support/growth.js'
import { isFailure } from '../../../gateway/problem.js'
import { type Row, rowsOf } from '../../support/stores.js'
import { A_MINUTE } from '../../support/wait.js'

const TITLE = 'http://purl.org/dc/terms/title'
const PROV = 'http://www.w3.org/ns/prov#'
const LINK = { Accept: 'application/link-format' }
const RDF_TYPES = ['text/turtle', 'application/n-triples', 'application/rdf+xml', 'application/ld+json', 'application/trig'] // prettier-ignore
const NT = { Accept: 'application/n-triples' }
const ACL = 'http://www.w3.org/ns/auth/acl#'

interface Link {
  readonly uri: string
  readonly rels: readonly string[]
  readonly attributes: Readonly<Record<string, string>>
}

/** The part of the Link syntax (RFC 8288 §3) that these answers use. */
const linksOf = (text: string): Link[] =>
  text
    .trim()
    .split(/,\s*(?=<)/)
    .map((value) => {
      const [uri, ...parameters] = value.split(/;\s*/)
      const attributes = Object.fromEntries(
        parameters.map((p) => /^(.*?)="(.*)"$/s.exec(p)!.slice(1) as [string, string]),
      )
      return { uri: uri!.slice(1, -1), rels: attributes.rel!.split(' '), attributes }
    })
const linksIn = ({ fields }: Answer): Link[] => linksOf(String(fields.link))
const withRel = (links: readonly Link[], rel: string): Link[] => links.filter(({ rels }) => rels.includes(rel))
const uris = (links: readonly Link[], rel: string): string[] => withRel(links, rel).map(({ uri }) => uri)

const titlesIn = ({ text }: Answer): string[] =>
  new Parser().parse(text).flatMap(({ predicate, object }) => (predicate.value === TITLE ? [object.value] : []))

/** A document with three versions, a second and more apart, oldest first. */
interface Past {
  readonly path: string
  readonly iri: string
  readonly versions: TimeMapJson['versions']
}

void t.test('Memento', async (t) => {
  const [endUser, admin] = await Promise.all([openEmbeddedStore('end-user'), openEmbeddedStore('admin')])
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  const world = await makeWorld(t, { endUser, admin }, { flags: ['--history', 'local', '--admin-history', 'local'] })
  const row = rowsOf(t, 'none')
  const past = await makePast(world)
  await liveDocument(world, row, past)
  await mementos(world, row, past)
  await timeMaps(world, row, past)
  await timeGates(world, row, past)
  await severalTimeMaps(world, row)
  await differences(world, row, past)
  await deleted(world, row, past)
  await access(world, row)
  await setbacks(world, row, past)
})

async function makePast(world: World): Promise<Past> {
  const path = world.freshPath()
  for (const title of ['one', 'two', 'three']) {
    const { status, text } = await world.as('owner')('PUT', path, ttl(turtle(`"${title}"`)))
    if (status > 201) throw new Error(text)
    if (title !== 'three') world.passTime(1_100)
  }
  return { path, iri: world.origin + path, versions: await versionsOf(world, path) }
}

async function versionsOf(world: World, path: string): Promise<TimeMapJson['versions']> {
  const { status, text } = await world.as('owner')('GET', `${path}?timemap`, accept('application/json'))
  if (status !== 200) throw new Error(text)
  return (JSON.parse(text) as TimeMapJson).versions
}

const dateOf = ({ time }: { time: string }): string => new Date(time).toUTCString()
const at = (time: string, seconds: number): string => new Date(Date.parse(time) + seconds * 1000).toUTCString()

/** GET, and a HEAD that must have the same fields (RFC 9110 §9.3.2). */
async function getAndHead(
  t: Test,
  world: World,
  target: string,
  fields: Record<string, string> = {},
  who = 'owner',
): Promise<Answer> {
  const [get, head] = [await world.as(who)('GET', target, { fields }), await world.as(who)('HEAD', target, { fields })]
  // A second may pass between the two, so that Retry-After has another number.
  const comparable = ({ status, fields }: Answer): object => {
    const retry = fields['retry-after'] === undefined ? {} : { 'retry-after': 'in some seconds' }
    return { status, ...fields, date: '', age: '', 'x-request-id': '', ...retry }
  }
  t.same(comparable(head), comparable(get), `HEAD ${target} is GET ${target} without content`)
  t.equal(head.text, '')
  return get
}

async function liveDocument(world: World, row: Row, { path, iri }: Past): Promise<void> {
  await row('RFC 7089 §4.2.1: the document links TimeGate and TimeMap, and is not a memento', async (t) => {
    const first = await getAndHead(t, world, path)
    const cached = await getAndHead(t, world, path)
    const notModified = await getAndHead(t, world, path, { 'If-None-Match': first.fields.etag! })
    t.same([first.status, cached.status, notModified.status], [200, 200, 304])
    for (const answer of [first, cached, notModified]) {
      const links = linksIn(answer)
      t.same(uris(links, 'timegate'), [`${iri}?timegate`])
      t.same(uris(links, 'timemap'), [`${iri}?timemap`])
      t.equal(withRel(links, 'timemap')[0]!.attributes.type, 'application/link-format')
      t.same(uris(links, 'original'), [])
      t.equal(answer.fields['memento-datetime'], undefined)
      t.notMatch(answer.fields.vary, /accept-datetime/i)
    }
  })
  await row('the document does not take part in datetime negotiation itself', async (t) => {
    const answer = await getAndHead(t, world, path, { 'Accept-Datetime': 'Thu, 31 May 2007 20:35:00 GMT' })
    t.same([answer.status, answer.fields['memento-datetime']], [200, undefined])
  })
}

async function mementos(world: World, row: Row, { path, iri, versions }: Past): Promise<void> {
  const [first, second, third] = versions as [Version, Version, Version]
  await row('spec 9.3: a version', async (t) => {
    const answer = await getAndHead(t, world, `${path}?version=${second.version}`, NT)
    t.same([answer.status, titlesIn(answer)], [200, ['two']])
    t.equal(answer.fields['content-type'], 'application/n-triples;charset=UTF-8')
    t.equal(answer.fields['memento-datetime'], dateOf(second))
    t.equal(answer.fields.etag, `"${second.version}"`)
    t.equal(answer.fields['cache-control'], 'private, max-age=31536000, immutable', 'not everyone may read it')
    t.equal(answer.fields.vary, 'Accept')
    const links = linksIn(answer)
    t.same(uris(links, 'original'), [iri])
    t.same(uris(links, 'timegate'), [`${iri}?timegate`])
    const [timeMap] = withRel(links, 'timemap')
    t.same(timeMap?.attributes, { rel: 'timemap', type: 'application/link-format' })
    for (const [rel, version] of [
      ['first', first],
      ['prev', first],
      ['next', third],
    ] as const) {
      const [link] = withRel(withRel(links, 'memento'), rel)
      t.same([link?.uri, link?.attributes.datetime], [`${iri}?version=${version.version}`, dateOf(version)], rel)
    }
    t.same(uris(links, `${ACL}mode`), [`${ACL}Read`], 'only Read is advertised')
  })
  await row('spec 8: an answer that may be cached for a year stays correct after later writes', async (t) => {
    const path = world.freshPath()
    await world.as('owner')('PUT', path, ttl(turtle('"one"')))
    const [version] = await versionsOf(world, path)
    const before = linksIn(await getAndHead(t, world, `${path}?version=${version!.version}`))
    await world.as('owner')('PUT', path, ttl(turtle('"two"')))
    const [, second] = await versionsOf(world, path)
    const after = linksIn(await getAndHead(t, world, `${path}?version=${version!.version}`))
    t.same(after, [...before, ...withRel(after, 'next')], 'only the link to the next version is new')
    t.same(uris(after, 'next'), [second!.uri])
  })
  await row('the same in every format, with one entity-tag', async (t) => {
    for (const type of RDF_TYPES) {
      for (let i = 0; i < 2; i++) {
        const answer = await getAndHead(t, world, `${path}?version=${first.version}`, { Accept: type })
        t.match(answer.fields['content-type'], type)
        t.match(answer.text, 'one')
        t.equal(answer.fields.etag, `"${first.version}"`)
      }
    }
  })
  await row('RFC 7089 §4.5.7: with every status, the fields of a memento stay', async (t) => {
    const etag = { 'If-None-Match': `"${second.version}"` }
    const target = `${path}?version=${second.version}`
    const owner = world.as('owner')
    const update = { fields: { 'Content-Type': 'application/sparql-update' }, body: 'DELETE WHERE { ?s ?p ?o }' }
    const rows: [name: string, answer: Answer, status: number][] = [
      ['not modified', await getAndHead(t, world, target, etag), 304],
      ['weakly compared', await getAndHead(t, world, target, { 'If-None-Match': `"x", W/"${second.version}"` }), 304],
      ['not acceptable', await getAndHead(t, world, target, { Accept: 'image/png' }), 406],
      ['If-Match names another version', await getAndHead(t, world, target, { 'If-Match': `"${first.version}"` }), 412],
      ['PUT', await owner('PUT', target, ttl(turtle('"x"'))), 405],
      ['POST', await owner('POST', target, ttl(turtle('"x"'))), 405],
      ['PATCH', await owner('PATCH', target, update), 405],
      ['DELETE', await owner('DELETE', target), 405],
      ['PUT by an agent that may only read', await world.as('reader')('PUT', target, ttl(turtle('"x"'))), 405],
    ]
    for (const [name, answer, status] of rows) {
      t.equal(answer.status, status, name)
      t.equal(answer.fields['memento-datetime'], dateOf(second), name)
      t.same(uris(linksIn(answer), 'original'), [iri], name)
      t.notMatch(answer.fields.vary, /accept-datetime/i, name)
      if (status === 405) t.equal(answer.fields.allow, 'GET, HEAD, OPTIONS', name)
    }
    t.equal((await owner('GET', path, { fields: NT })).text.includes('three'), true, 'nothing was written')
  })
  await row('Accept-Datetime is ignored on a memento', async (t) => {
    const target = `${path}?version=${first.version}`
    const answer = await getAndHead(t, world, target, { ...NT, 'Accept-Datetime': dateOf(third) })
    t.same([answer.status, titlesIn(answer)], [200, ['one']])
    t.equal((await getAndHead(t, world, target, { 'Accept-Datetime': 'nonsense' })).status, 200)
  })
  await row('an abbreviated id, in upper case too; Content-Location has the full one', async (t) => {
    for (const id of [second.version.slice(0, 12), second.version.slice(0, 12).toUpperCase()]) {
      const answer = await getAndHead(t, world, `${path}?version=${id}`, NT)
      t.same([answer.status, titlesIn(answer)], [200, ['two']])
      t.equal(answer.fields.etag, `"${second.version}"`)
      t.equal(answer.fields['content-location'], `${iri}?version=${second.version}`)
    }
  })
  await row('ids of no version', async (t) => {
    const other = world.freshPath()
    await world.as('owner')('PUT', other, ttl(turtle('"other"')))
    const [foreign] = await versionsOf(world, other)
    const rows: [name: string, id: string, status: number][] = [
      ['unknown', '0'.repeat(40), 404],
      ['unknown and short', first.version.startsWith('0000000') ? '1111111' : '0000000', 404],
      ['too short', first.version.slice(0, 3), 404],
      ['too long', `${first.version}0`, 404],
      ['the name of a branch', 'main', 404],
      ['an expression of Git', `${first.version}~1`, 404],
      ['nothing', '', 404],
      ['another document’s, abbreviated', foreign!.version.slice(0, 12), 404],
    ]
    for (const [name, id, status] of rows) {
      t.equal((await getAndHead(t, world, `${path}?version=${id}`)).status, status, name)
      t.equal((await getAndHead(t, world, `${path}?version=${id}&diff=${id}`)).status, status, name)
      t.equal((await getAndHead(t, world, `${path}?version=${id}`, {}, 'anonymous')).status, 403, name)
      const written = await world.as('owner')('PUT', `${path}?version=${id}`, ttl(turtle('"x"')))
      t.same([written.status, written.fields.allow], [405, 'GET, HEAD, OPTIONS'], name)
    }
    const asOf = await getAndHead(t, world, `${path}?version=${foreign!.version}`, NT)
    t.same([asOf.status, titlesIn(asOf)], [200, ['three']], 'another document’s commit: as at that commit')
    t.equal(asOf.fields.etag, `"${third.version}"`)
  })
  await row('a version that everyone may read is public', async (t) => {
    const open = world.freshPath()
    const rule = `@prefix acl: <${ACL}> . <#this> a acl:Authorization ; acl:mode acl:Read ;
      acl:agentClass <http://xmlns.com/foaf/0.1/Agent> ; acl:accessTo <${world.origin}${open}> .`
    await world.as('owner')('PUT', '/admin/acl/authorizations/memento/', ttl(rule))
    await world.as('owner')('PUT', open, ttl(turtle('"open"')))
    const [version] = await versionsOf(world, open)
    for (const who of ['anonymous', 'owner']) {
      const answer = await getAndHead(t, world, `${open}?version=${version!.version}`, {}, who)
      t.equal(answer.fields['cache-control'], 'public, max-age=31536000, immutable', who)
      t.same(uris(linksIn(answer), `${ACL}agent`), [], 'it names no agent')
    }
  })
}

type Version = TimeMapJson['versions'][number]

async function severalTimeMaps(world: World, row: Row): Promise<void> {
  const path = world.freshPath()
  const iri = world.origin + path
  const { history } = world.running.dataspaces[0]!.endUser
  await row('RFC 7089 §5.1.1: a long history has several TimeMaps, and one leads to the others', async (t) => {
    await world.as('owner')('PUT', path, ttl(turtle('"0"')))
    const content = (n: number): string => `<${iri}> <${TITLE}> "${n}" .\n`
    const change = { document: iri, method: 'PUT', agent: undefined, before: undefined }
    const begun = await history!.begin(
      Array.from({ length: 1_499 }, (_, n) => ({ ...change, time: 2e12 + 1000 * n, content: content(n + 1) })),
    )
    if (isFailure(begun)) return t.fail(begun.detail)
    await history!.done(begun)
    t.equal(await history!.settled(A_MINUTE), true)
    const newest = linksOf((await getAndHead(t, world, `${path}?timemap`, LINK)).text)
    const [other, ...more] = withRel(newest, 'timemap')
    t.same([other!.uri, other!.attributes.type, more], [`${iri}?timemap=1`, 'application/link-format', []])
    const older = linksOf((await getAndHead(t, world, `${path}?timemap=1`, LINK)).text)
    t.same(uris(older, 'self'), [other!.uri])
    t.same(uris(older, 'timemap'), [`${iri}?timemap`])
    const [first, last] = [uris(older, 'memento'), uris(newest, 'memento')]
    t.same([first.length, last.length, new Set([...first, ...last]).size], [1_000, 500, 1_500])
    for (const [links, self] of [
      [older, withRel(newest, 'timemap')[0]!],
      [newest, withRel(older, 'timemap')[0]!],
    ] as const) {
      const times = withRel(links, 'memento').map(({ attributes }) => attributes.datetime)
      t.same([self.attributes.from, self.attributes.until], [times[0], times.at(-1)])
    }
    t.same([uris(older, 'first'), uris(older, 'last')], [[first[0]], []])
    t.same([uris(newest, 'first'), uris(newest, 'last')], [[], [last.at(-1)]])
    const tags = await Promise.all(
      ['?timemap', '?timemap=1', '?timemap=2'].map(
        async (query) => (await getAndHead(t, world, path + query)).fields.etag,
      ),
    )
    t.equal(new Set(tags).size, 3)

    const json = async (query: string): Promise<TimeMapJson> =>
      JSON.parse((await getAndHead(t, world, path + query, { Accept: 'application/json' })).text) as TimeMapJson
    const { timemaps, versions } = await json('?timemap')
    t.match(timemaps, [{ uri: `${iri}?timemap=1` }])
    t.same(
      [...(await json('?timemap=1')).versions, ...versions].map(({ uri }) => uri),
      [...first, ...last],
    )

    const triples = new Parser().parse((await getAndHead(t, world, `${path}?timemap`, NT)).text)
    const about = (subject: string, property: string): string[] =>
      triples.filter((q) => q.subject.value === subject && q.predicate.value === property).map((q) => q.object.value)
    t.same(about(`${iri}?timemap`, 'http://purl.org/dc/terms/hasPart'), [`${iri}?timemap=1`])
    t.equal(about(`${iri}?timemap`, `${PROV}hadMember`).length, 500)
    t.same(about(last[0]!, `${PROV}wasRevisionOf`), [first.at(-1)])

    const version = await getAndHead(t, world, new URL(first.at(-1)!).pathname + new URL(first.at(-1)!).search)
    const beside = linksIn(version)
    t.same([uris(beside, 'first'), uris(beside, 'prev'), uris(beside, 'next')], [[first[0]], [first.at(-2)], [last[0]]])
    const at = { 'Accept-Datetime': new Date(2e12 + 700_000).toUTCString() }
    t.equal((await getAndHead(t, world, `${path}?timegate`, at)).fields.location, first[701])
    for (const query of ['?timemap=3', '?timemap=999999999'])
      t.equal((await getAndHead(t, world, path + query)).status, 404, query)
    const page = await world.as('owner')('GET', `${path}?timemap=1`, accept('text/html'))
    t.match(page.text, `?version=${first.at(-1)!.split('=')[1]}"`)
  })
}

async function timeMaps(world: World, row: Row, { path, iri, versions }: Past): Promise<void> {
  const target = `${path}?timemap`
  const [first, , third] = versions as [Version, Version, Version]
  await row('spec 9.4: the TimeMap in link format', async (t) => {
    for (const accept of [LINK, {}, { Accept: '*/*' }]) {
      const answer = await getAndHead(t, world, target, accept)
      t.equal(answer.status, 200)
      t.equal(answer.fields['content-type'], 'application/link-format')
      const links = linksOf(answer.text)
      t.same(uris(links, 'original'), [iri])
      t.same(
        withRel(links, 'self').map(({ uri, attributes }) => [uri, attributes.type, attributes.from, attributes.until]),
        [[`${iri}?timemap`, 'application/link-format', dateOf(first), dateOf(third)]],
      )
      t.same(uris(links, 'timegate'), [`${iri}?timegate`])
      t.same(
        withRel(links, 'memento').map(({ uri, attributes }) => [uri, attributes.datetime]),
        versions.map((version) => [`${iri}?version=${version.version}`, dateOf(version)]),
      )
      t.same([uris(links, 'first'), uris(links, 'last')], [[first.uri], [third.uri]])
    }
  })
  await row('spec 9.4: the TimeMap as RDF, in every format', async (t) => {
    const answer = await getAndHead(t, world, target, NT)
    const triples = new Parser().parse(answer.text)
    const values = (subject: string, property: string): string[] =>
      triples.filter((q) => q.subject.value === subject && q.predicate.value === property).map((q) => q.object.value)
    const types = (subject: string): string[] => values(subject, 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type')
    t.same(types(`${iri}?timemap`), [`${PROV}Collection`])
    t.same(values(`${iri}?timemap`, `${PROV}hadMember`).sort(), versions.map(({ uri }) => uri!).sort())
    for (const [i, { uri, time }] of versions.entries()) {
      t.same(types(uri!), [`${PROV}Entity`])
      t.same(values(uri!, `${PROV}specializationOf`), [iri])
      t.same(values(uri!, `${PROV}generatedAtTime`), [time])
      t.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, 'UTC, no fractions')
      t.same(values(uri!, `${PROV}wasRevisionOf`), i === 0 ? [] : [versions[i - 1]!.uri])
      t.same(values(uri!, `${PROV}wasAttributedTo`), [world.ownerWebId])
    }
    for (const type of ['text/turtle', 'application/rdf+xml', 'application/ld+json', 'text/plain', 'text/xml']) {
      const { status, fields, text } = await getAndHead(t, world, target, { Accept: type })
      t.same([status, text.includes(third.version)], [200, true])
      t.match(fields['content-type'], type)
    }
  })
  await row('the TimeMap as JSON has agent and method of each version', async (t) => {
    t.match(versions[0], { agent: world.ownerWebId, method: 'PUT', removed: 0 })
    t.ok(versions[0]!.added! > 5)
    t.match(versions[1], { added: 2, removed: versions[1]!.removed }, 'title and modified')
  })
  await row('a conditional request for the TimeMap → 304', async (t) => {
    const { fields } = await getAndHead(t, world, target, LINK)
    t.equal(fields['cache-control'], 'private, no-cache')
    t.same(uris(linksIn({ fields } as Answer), 'original'), [iri])
    t.equal((await getAndHead(t, world, target, { ...LINK, 'If-None-Match': fields.etag! })).status, 304)
    t.equal((await getAndHead(t, world, target, { ...LINK, 'If-Match': '"another"' })).status, 412)
    t.equal(
      (await getAndHead(t, world, target, { ...NT, 'If-None-Match': fields.etag! })).status,
      200,
      'another format',
    )
  })
  await row('TimeMaps that do not exist', async (t) => {
    const rows: [name: string, target: string, fields: Record<string, string>, status: number][] = [
      ['spec 7: no versions', `${world.freshPath()}?timemap`, LINK, 404],
      ['no versions, as RDF', `${world.freshPath()}?timemap`, NT, 404],
      ['an unsupported media type', target, { Accept: 'image/png' }, 406],
    ]
    for (const [name, target, fields, status] of rows) {
      t.equal((await getAndHead(t, world, target, fields)).status, status, name)
    }
    const put = await world.as('owner')('PUT', target, ttl(''))
    t.same([put.status, put.fields.allow], [405, 'GET, HEAD, OPTIONS'])
  })
}

async function timeGates(world: World, row: Row, { path, iri, versions }: Past): Promise<void> {
  const target = `${path}?timegate`
  const [first, second, third] = versions as [Version, Version, Version]
  await row('spec 9.5: the TimeGate leads to the closest version', async (t) => {
    const rows: [name: string, datetime: string | undefined, version: Version][] = [
      ['long before the first', 'Thu, 31 May 2007 20:35:00 GMT', first],
      ['at the first', dateOf(first), first],
      ['at the second', dateOf(second), second],
      ['a second before it', at(second.time, -1), closest(versions, Date.parse(second.time) - 1000)],
      ['at the last', dateOf(third), third],
      ['in the future', 'Tue, 01 Jan 2999 00:00:00 GMT', third],
      ['without Accept-Datetime', undefined, third],
    ]
    for (const [name, datetime, version] of rows) {
      const answer = await getAndHead(t, world, target, datetime === undefined ? {} : { 'Accept-Datetime': datetime })
      t.same([answer.status, answer.fields.location], [302, version.uri], name)
      t.equal(answer.fields.vary, 'accept-datetime', name)
      t.equal(answer.fields['memento-datetime'], undefined, name)
      const links = linksIn(answer)
      t.same(uris(links, 'original'), [iri], name)
      t.match(withRel(links, 'timemap')[0], {
        uri: `${iri}?timemap`,
        attributes: { from: dateOf(first), until: dateOf(third) },
      })
      t.same([uris(links, 'first'), uris(links, 'last')], [[first.uri], [third.uri]], name)
      const i = versions.indexOf(version)
      t.same(uris(links, 'prev'), i > 0 ? [versions[i - 1]!.uri] : [], name)
      t.same(uris(links, 'next'), i < 2 ? [versions[i + 1]!.uri] : [], name)
    }
  })
  await row('RFC 7089 §4.5.3: 400 for an invalid datetime', async (t) => {
    for (const datetime of ['', 'yesterday', '2007-05-31T20:35:00Z', 'thu, 31 may 2007 20:35:00 gmt']) {
      const answer = await getAndHead(t, world, target, { 'Accept-Datetime': datetime })
      t.equal(answer.status, 400, datetime)
      t.match(answer.fields.vary, /accept-datetime/, datetime)
      t.same(uris(linksIn(answer), 'original'), [iri], datetime)
    }
  })
  await row('no TimeGate without versions', async (t) => {
    t.equal((await getAndHead(t, world, `${world.freshPath()}?timegate`)).status, 404)
    t.equal((await world.as('owner')('DELETE', target)).status, 405)
  })
}

const closest = (versions: readonly Version[], time: number): Version =>
  [...versions].reverse().reduce((best, version) => (distance(version, time) < distance(best, time) ? version : best))
const distance = (version: Version, time: number): number => Math.abs(Date.parse(version.time) - time)

async function differences(world: World, row: Row, { path, iri, versions }: Past): Promise<void> {
  const [first, , third] = versions as [Version, Version, Version]
  const target = `${path}?version=${third.version}&diff=${first.version}`
  await row('the differences between two versions, in every format', async (t) => {
    const patch = await getAndHead(t, world, target, { Accept: 'application/rdf-patch' })
    t.equal(patch.status, 200)
    const lines = patch.text.split('\n')
    t.same([lines[0], lines.at(-2)], ['TX .', 'TC .'])
    t.ok(lines.includes(`D <${iri}> <${TITLE}> "one" .`))
    t.ok(lines.includes(`A <${iri}> <${TITLE}> "three" .`))
    const json = JSON.parse((await getAndHead(t, world, target, { Accept: 'application/json' })).text) as object
    t.match(json, {
      original: iri,
      from: { version: first.version },
      to: { version: third.version },
      subjects: [{ subject: { type: 'uri', value: iri } }],
    })
    t.match(JSON.stringify(json), `{"predicate":"${TITLE}","object":{"type":"literal","value":"three"}}`)
    for (const type of RDF_TYPES) {
      const { status, fields } = await getAndHead(t, world, target, { Accept: type })
      t.equal(status, 200)
      t.match(fields['content-type'], type)
    }
    const triples = new Parser().parse((await getAndHead(t, world, target, NT)).text)
    const changeSets = triples.filter((q) => q.predicate.value.endsWith('#subjectOfChange'))
    t.same(
      changeSets.map((q) => q.object.value),
      [iri],
    )
    const removals = triples.filter((q) => q.predicate.value.endsWith('#removal')).map((q) => q.object.value)
    const objects = triples.filter((q) => removals.includes(q.subject.value) && q.predicate.value.endsWith('#object'))
    t.ok(objects.some((q) => q.object.value === 'one'))
  })
  await row('a difference never changes', async (t) => {
    const answer = await getAndHead(t, world, target, NT)
    t.equal(answer.fields['cache-control'], 'private, max-age=31536000, immutable')
    t.match(answer.fields.etag, `${first.version}..${third.version}`)
    t.equal(answer.fields['memento-datetime'], undefined)
    t.equal((await getAndHead(t, world, target, { ...NT, 'If-None-Match': answer.fields.etag! })).status, 304)
    t.equal((await getAndHead(t, world, target, { ...NT, 'If-Match': '"another"' })).status, 412)
    const short = `${path}?version=${third.version.slice(0, 12)}&diff=${first.version.slice(0, 12)}`
    t.equal(
      (await getAndHead(t, world, short, NT)).fields['content-location'],
      iri.replace(/\/$/, '') + target.slice(path.length - 1),
    )
    t.equal((await getAndHead(t, world, `${path}?version=${third.version}&diff=${third.version}`, NT)).status, 200)
  })
  await row('differences that do not exist', async (t) => {
    const rows: [query: string, fields: Record<string, string>, status: number][] = [
      [`?diff=${first.version}`, {}, 400],
      [`?version=${third.version}&diff=${first.version}&diff=${first.version}`, {}, 400],
      [`?timemap&diff=${first.version}`, {}, 400],
      [`?version=${third.version}&diff=${'0'.repeat(40)}`, {}, 404],
      [`?version=${'0'.repeat(40)}&diff=${first.version}`, {}, 404],
      [`?version=${third.version}&diff=HEAD`, {}, 404],
      [target.slice(path.length), { Accept: 'image/png' }, 406],
    ]
    for (const [query, fields, status] of rows) {
      t.equal((await getAndHead(t, world, path + query, fields)).status, status, query)
    }
    t.equal((await world.as('owner')('PUT', target, ttl(''))).status, 405)
  })
}

async function deleted(world: World, row: Row, { path: living }: Past): Promise<void> {
  const path = world.freshPath()
  const iri = world.origin + path
  const owner = world.as('owner')
  await owner('PUT', path, ttl(turtle('"before"')))
  await owner('DELETE', path)
  const [before, deletion] = (await versionsOf(world, path)) as [Version, Version]
  await row('RFC 7089 §4.5.2: the 404 of a deleted document links TimeMap and TimeGate', async (t) => {
    for (const who of ['owner', 'reader']) {
      const answer = await getAndHead(t, world, path, {}, who)
      t.equal(answer.status, 404, who)
      t.same(uris(linksIn(answer), 'timegate'), [`${iri}?timegate`], who)
      t.same(uris(linksIn(answer), 'timemap'), [`${iri}?timemap`], who)
      t.same(uris(linksIn(answer), 'original'), [], who)
    }
    t.same(
      uris(linksIn(await getAndHead(t, world, world.freshPath())), 'timemap'),
      [],
      'none for a document that never existed',
    )
  })
  await row('the history of a deleted document', async (t) => {
    for (const who of ['owner', 'reader']) {
      const version = await getAndHead(t, world, `${path}?version=${before.version}`, NT, who)
      t.same([version.status, titlesIn(version)], [200, ['before']], who)
      const gate = await getAndHead(t, world, `${path}?timegate`, {}, who)
      t.same([gate.status, gate.fields.location], [302, before.uri], who)
      const map = await getAndHead(t, world, `${path}?timemap`, LINK, who)
      t.same(uris(linksOf(map.text), 'memento'), [before.uri], 'a deletion is not a memento')
    }
    const put = await world.as('reader')('PUT', `${path}?version=${before.version}`, ttl(turtle('"x"')))
    t.same(
      [put.status, put.fields['memento-datetime']],
      [405, dateOf(before)],
      'an agent that may read it gets Memento-Datetime',
    )
    for (const who of ['stranger', 'anonymous']) {
      for (const query of ['?timemap', '?timegate', `?version=${before.version}`]) {
        t.equal((await getAndHead(t, world, path + query, {}, who)).status, 403, who)
      }
      t.same(uris(linksIn(await getAndHead(t, world, path, {}, who)), 'timemap'), [], who)
    }
  })
  await row('an agent that may read items only gets no history of a deleted container', async (t) => {
    const [rule, container] = ['/admin/acl/authorizations/items/', world.freshPath()]
    const body = `<#this> a <${ACL}Authorization> ; <${ACL}mode> <${ACL}Read> ; <${ACL}agentClass> <http://xmlns.com/foaf/0.1/Agent> ;
      <${ACL}accessToClass> <https://www.w3.org/ns/ldt/document-hierarchy#Item> .`
    await owner('PUT', rule, ttl(body))
    t.teardown(() => owner('DELETE', rule))
    await owner('PUT', container, ttl('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .'))
    await owner('DELETE', container)
    const [{ version }] = (await versionsOf(world, container)) as [Version]
    for (const query of ['?timemap', '?timegate', `?version=${version}`]) {
      const answer = await getAndHead(t, world, container + query, {}, 'stranger')
      t.equal(answer.status, 404, query)
      const never = await getAndHead(t, world, world.freshPath() + query, {}, 'stranger')
      t.equal(
        answer.text.replaceAll(container, ''),
        never.text.replace(/\/\w+\/(?=\?)/g, ''),
        'as if it had never existed',
      )
      t.same(Object.keys(answer.fields), Object.keys(never.fields))
      t.equal(
        (await getAndHead(t, world, path + query.replace(version, before.version), {}, 'stranger')).status < 400,
        true,
      )
    }
    await owner('DELETE', rule)
  })
  await row('design 3: nor does its 404 show that the container existed', async (t) => {
    const [rule, container, never] = ['/admin/acl/authorizations/some/', world.freshPath(), world.freshPath()]
    const body = `<#this> a <${ACL}Authorization> ; <${ACL}mode> <${ACL}Read> ; <${ACL}agentClass> <http://xmlns.com/foaf/0.1/Agent> ;
      <${ACL}accessToClass> <https://www.w3.org/ns/ldt/document-hierarchy#Item> .`
    await owner('PUT', rule, ttl(body))
    await owner('PUT', container, ttl('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .'))
    await owner('DELETE', container)
    await versionsOf(world, container)
    const [was, wasNot] = [await getAndHead(t, world, container, {}, 'anonymous'), await getAndHead(t, world, never, {}, 'anonymous')] // prettier-ignore
    t.same([was.status, was.fields.link], [404, wasNot.fields.link])
    t.same(uris(linksIn(await getAndHead(t, world, container)), 'timemap'), [`${world.origin}${container}?timemap`])
    await owner('DELETE', rule)
  })
  await row('design 6: the owner of a deleted document reads its history without any other right', async (t) => {
    const [rule, path] = ['/admin/acl/authorizations/makes/', world.freshPath()]
    const body = `<#this> a <${ACL}Authorization> ; <${ACL}mode> <${ACL}Write> ; <${ACL}agent> <${world.webIdOf('stranger')}> ;
      <${ACL}accessTo> <${world.origin}/> .`
    await owner('PUT', rule, ttl(body))
    const stranger = world.as('stranger')
    t.equal((await stranger('PUT', path, ttl(turtle('"mine"')))).status, 201)
    t.equal((await stranger('DELETE', path)).status, 204)
    const map = await getAndHead(t, world, `${path}?timemap`, { Accept: 'application/json' }, 'stranger')
    t.equal(map.status, 200)
    const [mine] = (JSON.parse(map.text) as TimeMapJson).versions
    t.equal((await getAndHead(t, world, `${path}?version=${mine!.version}`, {}, 'stranger')).status, 200)
    t.equal((await getAndHead(t, world, `${path}?timemap`, {}, 'anonymous')).status, 403)

    const { text } = await owner('GET', `${path}?version=${mine!.version}`, { fields: NT })
    const fields = { 'Content-Type': 'application/n-triples', 'Content-Location': mine!.uri! }
    t.equal((await owner('PUT', path, { fields, body: text })).status, 201)
    const restored = (await owner('GET', path, { fields: NT })).text
    const lines = (nTriples: string) => nTriples.split('\n').filter((line) => !line.includes('/modified>'))
    t.same(lines(restored), lines(text))
    t.equal((await stranger('GET', path)).status, 200, 'spec 3: restored with its owner')
    await owner('DELETE', rule)
  })
  await row('a version that deleted the document: 404 with the links', async (t) => {
    const answer = await getAndHead(t, world, `${path}?version=${deletion.version}`)
    t.equal(answer.status, 404)
    t.same(uris(linksIn(answer), 'original'), [iri])
    t.same(uris(linksIn(answer), 'last'), [before.uri])
    t.equal(answer.fields['memento-datetime'], undefined)
    t.equal(deletion.uri, undefined)
    t.equal(deletion.method, 'DELETE')
    const rdf = await getAndHead(t, world, `${path}?timemap`, NT)
    t.match(rdf.text, `<${before.uri}> <${PROV}invalidatedAtTime> "${deletion.time}"`)
    const diff = `${path}?version=${deletion.version}&diff=${before.version}`
    const patch = await getAndHead(t, world, diff, { Accept: 'application/rdf-patch' })
    t.match(patch.text, `D <${iri}> <${TITLE}> "before" .`)
    t.notMatch(patch.text, '\nA ')
    const json = await getAndHead(t, world, diff, { Accept: 'application/json' })
    t.match(JSON.parse(json.text), { from: { uri: before.uri }, to: { uri: undefined, version: deletion.version } })
  })
  await row('a PUT restores a version only with the content of the version that it names', async (t) => {
    const path = world.freshPath()
    for (const title of ['one', 'two']) await owner('PUT', path, ttl(turtle(`"${title}"`)))
    const [one, two] = (await versionsOf(world, path)) as [Version, Version]
    const [elsewhere] = await versionsOf(world, living)
    // prettier-ignore
    const rows: [name: string, location: string, restores: string | undefined][] = [
      ['the whole id', one.uri!, one.version],
      ['as a relative reference', `?version=${one.version}`, one.version],
      ['abbreviated, in upper case', `?version=${one.version.slice(0, 12).toUpperCase()}`, one.version],
      ['another spelling of the document’s URI', one.uri!.replace(path, `/%${path.charCodeAt(1).toString(16)}${path.slice(2)}`), one.version],
      ['a version with other content', two.uri!, undefined],
      ['no version', `?version=${'f'.repeat(40)}`, undefined],
      ['no id', '?version=main', undefined],
      ['a version of another document', elsewhere!.uri!, undefined],
      ['another server’s', 'https://elsewhere.example/?version=' + one.version, undefined],
      ['the document itself', path, undefined],
    ]
    for (const [name, location, restores] of rows) {
      const fields = { 'Content-Type': 'text/turtle', 'Content-Location': location }
      const body = turtle('"one"') + ' <> a <https://www.w3.org/ns/ldt/document-hierarchy#Item> .'
      t.equal((await owner('PUT', path, { fields, body })).status, 200, name)
      t.equal((await versionsOf(world, path)).at(-1)!.restores, restores, name)
    }
  })
  await row('a large version is restored too', async (t) => {
    const path = world.freshPath()
    const large = turtle('"large"') + many(40_000, (i) => `<#${i}> <urn:n> "${i}" .\n`)
    for (const body of [large, turtle('"small"')]) await owner('PUT', path, ttl(body))
    const [first] = (await versionsOf(world, path)) as [Version]
    const fields = { 'Content-Type': 'text/turtle', 'Content-Location': first.uri! }
    for (const [body, restores] of [
      [large.replace('"0"', '"zero"'), undefined],
      [large, first.version],
    ] as const) {
      t.equal((await owner('PUT', path, { fields, body })).status, 200)
      t.equal((await versionsOf(world, path)).at(-1)!.restores, restores)
    }
  })
  await row('RFC 9110 §8.7: a PUT with the Content-Location of a version restores it', async (t) => {
    const version = await owner('GET', `${living}?timemap`, accept('application/json'))
    const [first] = (JSON.parse(version.text) as TimeMapJson).versions
    const { text } = await owner('GET', `${living}?version=${first!.version}`, { fields: NT })
    const fields = { 'Content-Type': 'application/n-triples', 'Content-Location': first!.uri! }
    t.equal((await owner('PUT', living, { fields, body: text })).status, 200)
    const versions = await versionsOf(world, living)
    t.same([versions.length, versions.at(-1)!.restores], [4, first!.version])
    t.same(titlesIn(await owner('GET', living, { fields: NT })), ['one'])
  })
}

async function access(world: World, row: Row): Promise<void> {
  await row('history is under the document’s rights', async (t) => {
    const path = world.freshPath()
    await world.as('owner')('PUT', path, ttl(turtle('"secret"')))
    const [version] = await versionsOf(world, path)
    const queries = [
      '?timemap',
      '?timegate',
      `?version=${version!.version}`,
      `?version=${version!.version}&diff=${version!.version}`,
    ]
    for (const query of queries) {
      for (const who of ['stranger', 'anonymous']) {
        const answer = await getAndHead(t, world, path + query, {}, who)
        t.equal(answer.status, 403, `${who} ${query}`)
        t.notMatch(JSON.stringify(answer), version!.version, 'the answer does not contain it')
        t.same(uris(linksIn(answer), 'timemap'), [])
      }
      t.ok((await getAndHead(t, world, path + query, {}, 'reader')).status < 400, `reader ${query}`)
    }
  })
  await row('the admin application has its own history', async (t) => {
    const path = '/admin/acl/authorizations/memento/'
    const [version] = await versionsOf(world, path)
    t.equal((await getAndHead(t, world, `${path}?version=${version!.version}`)).status, 200)
    t.equal((await getAndHead(t, world, `${path}?version=${version!.version}`, {}, 'reader')).status, 403)
  })
}

/** The failures of the repository are injected; the rest of the gateway is real. */
async function setbacks(world: World, row: Row, { path, versions }: Past): Promise<void> {
  const application = world.running.dataspaces[0]!.endUser as { history?: History }
  const real = application.history!
  const withHistory = async (faults: Partial<History>, run: () => Promise<void>): Promise<void> => {
    application.history = { ...real, ...faults }
    await run().finally(() => (application.history = real))
  }
  const refused = { failure: 'limited', detail: 'token abc is limited' } as const
  const unread = '?version=' + versions[1]!.version

  await row('if the repository fails: 503 with Retry-After, and none of its secrets', async (t) => {
    world.stopClock(t)
    const refusedUntil = { ...refused, retryAt: world.running.gateway.now() + 90_000 }
    const rows: [name: string, faults: Partial<History>, query: string][] = [
      ['time map', { outline: async () => refusedUntil }, '?timemap'],
      ['time gate', { outline: async () => refusedUntil }, '?timegate'],
      ['version', { outline: async () => refusedUntil }, unread],
      ['version, its id', { resolve: async () => refusedUntil }, unread],
      ['difference', { content: async () => refusedUntil }, `${unread}&diff=${versions[0]!.version}`],
    ]
    for (const [name, faults, query] of rows) {
      await withHistory(faults, async () => {
        const answer = await getAndHead(t, world, path + query, {})
        t.equal(answer.status, 503, name)
        t.equal(answer.fields['retry-after'], '90', name)
        t.notMatch(answer.text, 'abc', name)
        t.equal(answer.fields['cache-control'], 'no-store', name)
      })
    }
    t.ok(
      world.log.some(({ cause }) => cause === 'limited: token abc is limited'),
      'the log has the cause',
    )
    const fresh = world.freshPath()
    await world.as('owner')('PUT', fresh, ttl(turtle('"unread"')))
    const [version] = await versionsOf(world, fresh)
    await withHistory({ content: async () => refused }, async () => {
      const answer = await getAndHead(t, world, `${fresh}?version=${version!.version}`)
      t.same([answer.status, answer.fields['memento-datetime']], [503, dateOf(version!)], 'version, its content')
    })
    await withHistory({ content: async () => 'no N-Triples' }, async () => {
      t.equal((await getAndHead(t, world, `${fresh}?version=${version!.version}`)).status, 503)
    })
  })
  await row('a version that cannot be read restores nothing: its PUT is an ordinary one', async (t) => {
    const fresh = world.freshPath()
    await world.as('owner')('PUT', fresh, ttl(turtle('"one"')))
    const [version] = await versionsOf(world, fresh)
    const fields = { 'Content-Type': 'text/turtle', 'Content-Location': version!.uri! }
    await withHistory({ content: async () => 'no N-Triples' }, async () => {
      t.equal((await world.as('owner')('PUT', fresh, { fields, body: turtle('"two"') })).status, 200)
    })
    t.equal((await versionsOf(world, fresh)).at(-1)!.restores, undefined)
  })
  await row('a difference is computed once, and the versions are read once for it', async (t) => {
    let reads = 0
    const content: History['content'] = (...asked) => {
      reads++
      return real.content(...asked)
    }
    const target = `${path}?version=${versions[1]!.version}&diff=${versions[0]!.version}`
    await withHistory({ content }, async () => {
      const [first, second] = [await getAndHead(t, world, target, NT), await getAndHead(t, world, target, NT)]
      t.same([first.status, second.text], [200, first.text])
      if (process.env.TRIPLEGATE_TEST_CACHE !== 'off') t.equal(reads, 2)
    })
  })
  await row('a large version, in every format', async (t) => {
    const large = world.freshPath()
    const titles = Array.from({ length: 4_000 }, (_, i) => `"${i} of a document that is read in a thread"`)
    await world.as('owner')('PUT', large, ttl(turtle(titles.join(', '))))
    const [version] = await versionsOf(world, large)
    for (const type of ['application/n-triples', 'text/turtle', 'application/rdf+xml', 'application/ld+json']) {
      const answer = await getAndHead(t, world, `${large}?version=${version!.version}`, { Accept: type })
      t.same([answer.status, answer.fields['content-type']?.split(';')[0]], [200, type])
      for (const i of [0, 3_999]) t.match(answer.text, `${i} of a document that is read in a thread`, type)
    }
  })
  await row('while documents get their first versions, one without a version is not 404', async (t) => {
    const fresh = world.freshPath()
    const aligning = application as { alignment?: { isUnderWay(): boolean } }
    aligning.alignment = { isUnderWay: () => true }
    const answer = await world.as('owner')('GET', `${fresh}?timemap`)
    delete aligning.alignment
    t.same([answer.status, answer.fields['retry-after']], [503, '5'])
    t.equal((await world.as('owner')('GET', `${fresh}?timemap`)).status, 404)
  })
  await row('the gateway waits for versions that are being written, then answers with the known ones', async (t) => {
    const waits: number[] = []
    const pending = async (document: string, patience: number) => {
      waits.push(patience)
      const found = await real.outline(document, patience)
      return 'failure' in found ? found : { ...found, pending: true }
    }
    const lastExcerpt = () => Promise.resolve({ excerpt: undefined, pending: true })
    await withHistory({ outline: pending, lastExcerpt }, async () => {
      t.equal((await world.as('owner')('GET', `${path}?timemap`)).status, 200)
      t.same(waits, [A_MINUTE])
      t.equal((await world.as('owner')('GET', path + unread)).status, 200)
      t.same(waits, [A_MINUTE, 0], 'a version that is known waits for nothing')
      const unknown = await world.as('owner')('GET', `${path}?version=${'0'.repeat(40)}`)
      t.same([unknown.status, unknown.fields['retry-after']], [503, '5'])
      t.same(waits, [A_MINUTE, 0, 0, A_MINUTE])
      for (const query of ['?timemap', '?timegate']) {
        const answer = await world.as('owner')('GET', world.freshPath() + query)
        t.same([answer.status, answer.fields['retry-after']], [503, '5'], query)
      }
    })
  })
}
