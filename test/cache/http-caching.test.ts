// HTTP caching as seen by a client of the gateway, on both stores. Sections refer to RFC 9110 (semantics) and RFC 9111
// (caching).
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import t from 'tap'
import { formatHttpDate } from '../../cache/http-date.js'
import { problem, type Problem } from '../../gateway/problem.js'
import type { GraphStore } from '../../gateway/stores/store.js'
import type { Answer, Client } from '../support/client.js'
import { cachedRowsOf, forEachStore, rowsOf, type Row } from '../support/stores.js'
import { makeWorld, ttl, turtle, type World } from '../support/world.js'

type Fields = Record<string, string | string[]>

/** A store that records which graphs were read, and fails writes with a given problem. */
interface Watched {
  readonly store: GraphStore
  readonly asked: string[]
  failWrites(by: Problem | undefined): void
}

function watched(store: GraphStore): Watched {
  const asked: string[] = []
  let failure: Problem | undefined
  return {
    asked,
    failWrites: (by) => (failure = by),
    store: {
      ...store,
      read(graph, call) {
        asked.push(graph)
        return store.read(graph, call)
      },
      replace: async (graph, nTriples, call) => failure ?? store.replace(graph, nTriples, call),
    },
  }
}

interface Setting {
  readonly world: World
  readonly owner: Client
  readonly endUser: Watched
  readonly row: Row
  /** A row about cached answers. */
  readonly cachedRow: Row
  /** The number of reads of the document from the store during the run. */
  asks(path: string, run: () => Promise<unknown>): Promise<number>
  /** A document with a title, and the answer to its GET. */
  make(title?: string): Promise<{ path: string; got: Answer }>
}

void forEachStore(t, 'HTTP caching', async (t, makeStores, kind) => {
  const stores = await makeStores()
  const endUser = watched(stores.endUser)
  const world = await makeWorld(t, { endUser: endUser.store, admin: stores.admin })
  const owner = world.as('owner')
  const setting: Setting = {
    world,
    owner,
    endUser,
    row: rowsOf(t, kind),
    cachedRow: cachedRowsOf(t, kind),
    async asks(path, run) {
      endUser.asked.length = 0
      await run()
      return endUser.asked.filter((graph) => graph === world.origin + path).length
    },
    async make(title = 'one') {
      const path = world.freshPath()
      await owner('PUT', path, ttl(turtle(`"${title}"`)))
      return { path, got: await owner('GET', path) }
    },
  }
  await ages(setting)
  await validators(setting)
  await conditions(setting)
  await variants(setting)
  await heads(setting)
  await codings(setting)
  await codedResults(setting)
  await requestDirectives(setting)
  await responseDirectives(setting)
  await invalidation(setting)
  await absence(setting)
  await partial(setting)
})

async function ages({ row, cachedRow, make, owner, world }: Setting): Promise<void> {
  await row('RFC 9111 §5.1: Age is a number of seconds without sign or fraction, on 200, 304 and HEAD', async (t) => {
    const { path, got } = await make()
    const unchanged = await owner('GET', path, { fields: { 'If-None-Match': got.fields.etag! } })
    t.equal(unchanged.status, 304)
    for (const { fields } of [got, unchanged, await owner('HEAD', path)]) t.match(fields.age, /^\d+$/)
  })
  await cachedRow(
    'RFC 9111 §4.2.3: Age grows with time, in every format, for every agent; a write resets it',
    async (t) => {
      world.stopClock(t)
      const { path } = await make()
      world.passTime(1_100)
      for (const [client, Accept] of [
        [owner, 'text/turtle'],
        [owner, 'application/ld+json'],
        [world.as('reader'), 'text/turtle'],
      ] as const) {
        t.equal((await client('GET', path, { fields: { Accept } })).fields.age, '1')
      }
      await owner('PUT', path, ttl(turtle('"two"')))
      t.equal((await owner('GET', path)).fields.age, '0')
    },
  )
  await row('RFC 9111 §5.1: an Age that a client sends has no effect', async (t) => {
    const { path } = await make()
    t.ok(Number((await owner('GET', path, { fields: { Age: '7200' } })).fields.age) < 7200)
  })
}

const FORMATS = ['text/turtle', 'application/n-triples', 'application/rdf+xml', 'application/ld+json']

async function validators({ row, make, owner, world }: Setting): Promise<void> {
  await row('RFC 9110 §8.8.3: each format has a strong entity-tag of its own (spec 4.6)', async (t) => {
    const { path } = await make()
    const tags = await Promise.all(
      FORMATS.map(async (Accept) => (await owner('GET', path, { fields: { Accept } })).fields.etag!),
    )
    for (const tag of tags) t.match(tag, /^"[\x21\x23-\x7e]+"$/)
    t.equal(new Set(tags).size, FORMATS.length)
  })
  await row('RFC 9110 §8.8.1: the entity-tag stays while the content stays, and changes with it', async (t) => {
    const { path, got } = await make()
    t.equal((await owner('GET', path)).fields.etag, got.fields.etag)
    await owner('POST', path, ttl(turtle('"two"')))
    t.not((await owner('GET', path)).fields.etag, got.fields.etag)
  })
  await row('RFC 9110 §8.8.3: the entity-tag in the response to a write is that of the next GET', async (t) => {
    const { path } = await make()
    const written = await owner('PUT', path, ttl(turtle('"two"')))
    t.equal(written.fields.etag, (await owner('GET', path)).fields.etag)
  })
  await row('RFC 9110 §8.8.2: Last-Modified is a date that is not after Date', async (t) => {
    const { got } = await make()
    t.ok(Date.parse(got.fields['last-modified']!) <= Date.parse(got.fields.date!))
  })
  await row('RFC 9110 §8.8.2.1: a document whose date is in the future', async (t) => {
    // The clock of the gateway was wrong for a while.
    const ahead = 3_600_000
    const path = world.freshPath()
    world.passTime(ahead)
    t.equal((await owner('PUT', path, ttl(turtle('"one"')))).status, 201)
    world.passTime(-ahead)
    const { date, 'last-modified': modified } = (await owner('GET', path)).fields
    t.equal(modified, undefined)
    const added = await owner('POST', path, ttl(turtle('"added"')))
    t.same([added.status, added.fields['last-modified']], [204, undefined])
    t.equal((await owner('GET', path, { fields: { 'If-Modified-Since': date! } })).status, 200)
    const { fields, body } = ttl(turtle('"mine"'))
    t.equal((await owner('PUT', path, { fields: { ...fields, 'If-Unmodified-Since': date! }, body })).status, 412)
    t.match((await owner('GET', path)).text, '"added"')
  })
}

/** The entity-tags of the document, and its date. */
interface Known {
  readonly tag: string
  readonly otherFormat: string
  readonly at: number
}

const date = formatHttpDate
const match = (tag: string): Fields => ({ 'If-Match': tag })
const noneMatch = (tag: string): Fields => ({ 'If-None-Match': tag })
const since = (time: number): Fields => ({ 'If-Modified-Since': date(time) })
const until = (time: number): Fields => ({ 'If-Unmodified-Since': date(time) })

// prettier-ignore
const CONDITIONS: readonly [name: string, fields: (known: Known) => Fields, status: number][] = [
  ['§13.1.2: If-None-Match, the same', ({ tag }) => ({ 'If-None-Match': tag }), 304],
  ['§13.1.2: If-None-Match is compared weakly', ({ tag }) => ({ 'If-None-Match': `W/${tag}` }), 304],
  ['§13.1.2: If-None-Match, one of a list', ({ tag }) => ({ 'If-None-Match': `"x", W/"y" , ${tag}` }), 304],
  ['§5.6.1: If-None-Match, a list with empty members', ({ tag }) => ({ 'If-None-Match': `, ,${tag},` }), 304],
  ['§8.8.3: a comma within a tag', ({ tag }) => ({ 'If-None-Match': `"a,b",${tag}` }), 304],
  ['§5.3: If-None-Match in two lines', ({ tag }) => ({ 'If-None-Match': ['"x"', tag] }), 304],
  ['§13.1.2: If-None-Match: *', () => ({ 'If-None-Match': '*' }), 304],
  ['§13.1.2: If-None-Match, another', () => ({ 'If-None-Match': '"x"' }), 200],
  ['§8.8.3.1: If-None-Match, of another format', ({ otherFormat }) => ({ 'If-None-Match': otherFormat }), 200],
  ['If-None-Match without quotes', ({ tag }) => ({ 'If-None-Match': tag.slice(1, -1) }), 200],
  ['If-None-Match with a small w', ({ tag }) => ({ 'If-None-Match': `w/${tag}` }), 200],
  ['If-None-Match, empty', () => ({ 'If-None-Match': '' }), 200],
  ['§13.1.3: If-Modified-Since, the same date', ({ at }) => ({ 'If-Modified-Since': date(at) }), 304],
  ['§13.1.3: If-Modified-Since, later', ({ at }) => ({ 'If-Modified-Since': date(at + 5_000) }), 304],
  ['§13.1.3: If-Modified-Since, earlier', ({ at }) => ({ 'If-Modified-Since': date(at - 5_000) }), 200],
  ['§5.6.7: a date of RFC 850', ({ at }) => ({ 'If-Modified-Since': rfc850(at) }), 304],
  ['§5.6.7: a date of asctime', ({ at }) => ({ 'If-Modified-Since': asctime(at) }), 304],
  ['§13.1.3: a malformed date', () => ({ 'If-Modified-Since': 'tomorrow' }), 200],
  ['a date in ISO 8601', ({ at }) => ({ 'If-Modified-Since': new Date(at + 5_000).toISOString() }), 200],
  ['§5.6.7: a date in another zone', ({ at }) => ({ 'If-Modified-Since': date(at).replace('GMT', 'CET') }), 200],
  ['§13.1.3: If-Modified-Since is ignored, another tag', (k) => ({ ...noneMatch('"x"'), ...since(k.at) }), 200],
  ['§13.1.3: If-Modified-Since is ignored, same tag', (k) => ({ ...noneMatch(k.tag), ...since(k.at - 5_000) }), 304],
  ['§13.1.1: If-Match, the same', ({ tag }) => ({ 'If-Match': tag }), 200],
  ['§13.1.1: If-Match: *', () => ({ 'If-Match': '*' }), 200],
  ['§13.1.1: If-Match, another', () => ({ 'If-Match': '"x"' }), 412],
  ['§13.1.1: If-Match is compared strongly', ({ tag }) => ({ 'If-Match': `W/${tag}` }), 412],
  ['If-Match, malformed', ({ tag }) => ({ 'If-Match': tag.slice(1) }), 400],
  ['§13.1.4: If-Unmodified-Since, the same date', ({ at }) => ({ 'If-Unmodified-Since': date(at) }), 200],
  ['§13.1.4: If-Unmodified-Since, earlier', ({ at }) => ({ 'If-Unmodified-Since': date(at - 5_000) }), 412],
  ['§13.1.4: If-Unmodified-Since, no date', () => ({ 'If-Unmodified-Since': '0' }), 200],
  ['§13.2.2: If-Match before If-Unmodified-Since', (k) => ({ ...match(k.tag), ...until(k.at - 5_000) }), 200],
  ['§13.2.2: If-Match before If-None-Match', (k) => ({ ...match('"x"'), ...noneMatch(k.tag) }), 412],
  ['§13.2.2: If-Match and If-None-Match with the same tag', ({ tag }) => ({ 'If-Match': tag, 'If-None-Match': tag }), 304],
  ['§13.2.2: If-Unmodified-Since before If-None-Match', (k) => ({ ...until(k.at - 5_000), ...noneMatch(k.tag) }), 412],
]

const rfc850 = (time: number): string => {
  const [, day, month, year, clock] = /^..., (..) (...) ..(..) (\S+)/.exec(formatHttpDate(time))!
  const name = new Date(time).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' })
  return `${name}, ${day}-${month}-${year} ${clock} GMT`
}
const asctime = (time: number): string => {
  const [, weekday, day, month, year, clock] = /^(...), (..) (...) (....) (\S+)/.exec(formatHttpDate(time))!
  return `${weekday} ${month} ${day!.replace(/^0/, ' ')} ${clock} ${year}`
}

async function conditions({ row, make, owner, world }: Setting): Promise<void> {
  const { path, got } = await make()
  const known: Known = {
    tag: got.fields.etag!,
    otherFormat: (await owner('GET', path, { fields: { Accept: 'application/ld+json' } })).fields.etag!,
    at: Date.parse(got.fields['last-modified']!),
  }
  for (const [name, fieldsOf, status] of CONDITIONS) {
    await row(`RFC 9110 ${name}: ${status}`, async (t) => {
      for (const method of ['GET', 'HEAD']) {
        const answer = await owner(method, path, { fields: fieldsOf(known) })
        t.equal(answer.status, status, method)
        if (status !== 304) continue
        // RFC 9110 §15.4.5
        for (const name of ['etag', 'cache-control', 'vary'] as const)
          t.equal(answer.fields[name], got.fields[name], `${name} as in the 200`)
        t.equal(answer.text, '')
        t.equal(answer.fields['content-type'], undefined)
        t.equal(answer.fields['content-length'], undefined)
      }
    })
  }
  await row('RFC 9110 §13.2.1: a condition does not turn a 404 or a 403 into something else', async (t) => {
    const fields = { 'If-None-Match': '*', 'If-Modified-Since': formatHttpDate(known.at) }
    t.equal((await owner('GET', '/nothing/', { fields })).status, 404)
    t.equal((await world.as('anonymous')('GET', path, { fields })).status, 403)
  })
}

async function variants({ row, cachedRow, make, owner, asks }: Setting): Promise<void> {
  await row('RFC 9111 §4.1: Vary names Accept on 200, 304, 404 and 406', async (t) => {
    const { path, got } = await make()
    const answers = [
      got,
      await owner('GET', path, { fields: { 'If-None-Match': got.fields.etag! } }),
      await owner('GET', '/nothing/'),
      await owner('GET', path, { fields: { Accept: 'image/png' } }),
    ]
    t.same(
      answers.map(({ status }) => status),
      [200, 304, 404, 406],
    )
    for (const { status, fields } of answers) t.match(fields.vary, /(^|,\s*)Accept(,|$)/i, String(status))
  })
  await cachedRow('RFC 9111 §4.1: variants do not mix, in any order of requests; one read of the store', async (t) => {
    const { path } = await make()
    const first = new Map<string, Answer>()
    t.equal(
      await asks(path, async () => {
        for (const Accept of [...FORMATS, ...[...FORMATS].reverse()]) {
          const answer = await owner('GET', path, { fields: { Accept } })
          t.equal(answer.fields['content-type']!.split(';')[0], Accept)
          const before = first.get(Accept) ?? answer
          t.same([answer.text, answer.fields.etag], [before.text, before.fields.etag])
          first.set(Accept, answer)
        }
      }),
      0,
    )
  })
  await row('RFC 9110 §12.5.1: the accepted types decide, not the spelling of the field', async (t) => {
    const { path } = await make()
    const spellings = [
      'application/n-triples',
      'APPLICATION/N-Triples',
      'text/turtle;q=0.5,application/n-triples',
      'application/n-triples ; q=1 , */*;q=0.1',
    ]
    const answers = await Promise.all(spellings.map((Accept) => owner('GET', path, { fields: { Accept } })))
    t.equal(new Set(answers.map(({ fields, text }) => `${fields.etag} ${text}`)).size, 1)
  })
  await row('a 406 is not cached for other media types', async (t) => {
    const { path } = await make()
    t.equal((await owner('GET', path, { fields: { Accept: 'image/png' } })).status, 406)
    t.equal((await owner('GET', path)).status, 200)
  })
}

async function heads({ row, make, owner }: Setting): Promise<void> {
  const { path, got } = await make()
  const rows: [name: string, path: string, fields: Fields, status: number][] = [
    ['a document', path, {}, 200],
    ['a document in another format', path, { Accept: 'application/rdf+xml' }, 200],
    ['a document that is not modified', path, { 'If-None-Match': got.fields.etag! }, 304],
    ['a failed condition', path, { 'If-Match': '"x"' }, 412],
    ['no document', '/nothing/', {}, 404],
    ['nothing acceptable', path, { Accept: 'image/png' }, 406],
  ]
  for (const [name, at, fields, status] of rows) {
    await row(`RFC 9110 §9.3.2: HEAD has the fields of GET, and no content: ${name}`, async (t) => {
      const [head, get] = [await owner('HEAD', at, { fields }), await owner('GET', at, { fields })]
      const comparable = ({ fields: { date: _date, age: _age, 'x-request-id': _id, ...others } }: Answer) => others
      t.same([head.status, get.status], [status, status])
      t.same(comparable(head), comparable(get))
      t.equal(head.text, '')
    })
  }
}

/**
 * RFC 9111 §5.2.1: a cache may ignore them. This one is part of the origin: all writes go through it, so its documents
 * are current; operators who write to the store directly purge it. Otherwise every reload in a browser (`max-age=0`)
 * would cause a read of the store, for every agent with Read.
 */
const REQUEST_DIRECTIVES: readonly Fields[] = [
  { 'Cache-Control': 'no-cache' },
  { 'Cache-Control': 'no-store' },
  { 'Cache-Control': 'max-age=0' },
  { 'Cache-Control': 'max-age=1, max-stale' },
  { 'Cache-Control': 'min-fresh=100000' },
  { 'Cache-Control': 'only-if-cached' },
  { 'Cache-Control': 'no-transform, unknown="no-cache"' },
  { 'Cache-Control': 'no-cache, no-store, max-age=0', Pragma: 'no-cache' },
  { Pragma: 'no-cache' },
]

async function requestDirectives({ row, cachedRow, make, owner, asks }: Setting): Promise<void> {
  for (const fields of REQUEST_DIRECTIVES) {
    const name = Object.entries(fields)
      .map((pair) => pair.join(': '))
      .join(', ')
    await cachedRow(`RFC 9111 §5.2.1, §5.4: a reader does not decide what is cached: ${name}`, async (t) => {
      const { path, got } = await make()
      const run = async (): Promise<void> => {
        for (let i = 0; i < 2; i++) {
          const answer = await owner('GET', path, { fields })
          t.same([answer.status, answer.text], [200, got.text])
          t.match(answer.fields.age, /^\d+$/)
        }
        t.equal((await owner('GET', path)).text, got.text)
      }
      t.equal(await asks(path, run), 0)
    })
  }
  await row('RFC 9111 §5.2.1.7: only-if-cached of a document that is not cached is answered too', async (t) => {
    t.equal((await owner('GET', '/nothing-yet/', { fields: { 'Cache-Control': 'only-if-cached' } })).status, 404)
  })
}

async function responseDirectives({ row, make, owner, world }: Setting): Promise<void> {
  await row('RFC 9111 §5.2.2.7: a document for some agents is private, and validated before each use', async (t) => {
    t.equal((await make()).got.fields['cache-control'], 'private, no-cache')
  })
  await row('RFC 9111 §5.2.2.9: a document for everyone is public for anonymous clients only', async (t) => {
    const { path } = await make()
    const acl = 'http://www.w3.org/ns/auth/acl#'
    const rule = `<#open> a <${acl}Authorization> ; <${acl}mode> <${acl}Read> ;
      <${acl}agentClass> <http://xmlns.com/foaf/0.1/Agent> ; <${acl}accessTo> <${world.origin}${path}> .`
    t.equal((await owner('PUT', '/admin/acl/authorizations/open-caching/', ttl(rule))).status, 201)
    t.equal((await world.as('anonymous')('GET', path)).fields['cache-control'], 'public, no-cache')
    t.equal((await owner('GET', path)).fields['cache-control'], 'private, no-cache')
    t.equal((await owner('DELETE', '/admin/acl/authorizations/open-caching/')).status, 204)
    t.equal((await world.as('anonymous')('GET', path)).status, 403, 'though the document is cached')
  })
  await row('RFC 9111 §5.2.2.5: errors are not stored', async (t) => {
    const { path } = await make()
    const answers = [
      await world.as('anonymous')('GET', path),
      await owner('GET', '/nothing/'),
      await owner('GET', path, { fields: { Accept: 'image/png' } }),
      await owner('GET', path, { fields: { 'If-Match': '"x"' } }),
    ]
    t.same(
      answers.map(({ status }) => status),
      [403, 404, 406, 412],
    )
    for (const { fields } of answers) t.equal(fields['cache-control'], 'no-store')
  })
}

const UPDATE = { 'Content-Type': 'application/sparql-update' }
const insert = 'INSERT { <http://e/s> <http://e/p> "new" } WHERE {}'

async function invalidation(setting: Setting): Promise<void> {
  const { row, cachedRow, make, owner, asks, endUser, world } = setting
  const writes: [method: string, send: Parameters<Client>[2], status: number, after: number][] = [
    ['PUT', ttl('<http://e/s> <http://e/p> "new" .'), 200, 200],
    ['POST', ttl('<http://e/s> <http://e/p> "new" .'), 204, 200],
    ['PATCH', { fields: UPDATE, body: insert }, 204, 200],
    ['DELETE', {}, 204, 404],
  ]
  for (const [method, send, status, after] of writes) {
    await row(`RFC 9111 §4.4: the next reader sees a ${method}, in every format`, async (t) => {
      const { path, got } = await make()
      for (const Accept of FORMATS) await owner('GET', path, { fields: { Accept } })
      t.equal((await owner(method, path, send)).status, status)
      for (const Accept of FORMATS) {
        const answer = await owner('GET', path, { fields: { Accept, 'If-None-Match': got.fields.etag! } })
        t.equal(answer.status, after)
        if (after === 200) t.match(answer.text, /new/)
      }
    })
  }
  const refused: [name: string, method: string, send: Parameters<Client>[2], status: number][] = [
    ['PUT with another entity-tag', 'PUT', { fields: { 'If-Match': '"x"' } }, 412],
    ['PUT of malformed Turtle', 'PUT', ttl('<> <'), 400],
    ['PUT in another format', 'PUT', { fields: { 'Content-Type': 'image/png' }, body: 'x' }, 415],
    ['POST without content', 'POST', {}, 415],
    ['PATCH with an update of another form', 'PATCH', { fields: UPDATE, body: 'CLEAR ALL' }, 422],
    ['DELETE with another entity-tag', 'DELETE', { fields: { 'If-Match': '"x"' } }, 412],
    ['a method that does not exist', 'PURGE', {}, 405],
  ]
  for (const [name, method, send, status] of refused) {
    await cachedRow(`RFC 9111 §4.4: a refused write changes nothing: ${name}: ${status}`, async (t) => {
      const { path, got } = await make()
      t.equal((await owner(method, path, send)).status, status)
      const asked = await asks(path, async () => {
        const after = await owner('GET', path)
        t.same([after.text, after.fields.etag], [got.text, got.fields.etag])
      })
      t.equal(asked, 0)
    })
  }
  await cachedRow('RFC 9111 §4.4: a write without the right to write changes nothing: 403', async (t) => {
    const { path } = await make()
    t.equal((await world.as('stranger')('DELETE', path)).status, 403)
    t.equal(await asks(path, () => owner('GET', path)), 0)
  })
  await cachedRow('a write to another document keeps the cached answers', async (t) => {
    const [{ path }, other] = [await make(), await make()]
    await owner('PUT', other.path, ttl(turtle('"two"')))
    t.equal(await asks(path, () => owner('GET', path)), 0)
  })
  await row('a write whose outcome is unknown: the next reader gets the state of the store', async (t) => {
    const { path, got } = await make()
    endUser.failWrites(problem('store.failed', 'It broke off.'))
    t.equal((await owner('PUT', path, ttl(turtle('"two"')))).status, 502)
    endUser.failWrites(undefined)
    const asked = await asks(path, async () => t.equal((await owner('GET', path)).text, got.text))
    t.equal(asked, 1)
  })
}

async function absence({ row, cachedRow, owner, asks, make, world, endUser }: Setting): Promise<void> {
  await cachedRow('RFC 9110 §15.5.5: the absence of a document is cached until it is created', async (t) => {
    const path = world.freshPath()
    const asked = await asks(path, async () => {
      for (const method of ['GET', 'HEAD', 'GET']) t.equal((await owner(method, path)).status, 404)
    })
    t.equal(asked, 1)
    t.equal((await owner('PUT', path, ttl(turtle('"here"')))).status, 201)
    t.match((await owner('GET', path)).text, /here/)
  })
  await cachedRow('after DELETE the absence of the document is cached', async (t) => {
    const { path } = await make()
    await owner('DELETE', path)
    t.equal(await asks(path, async () => t.equal((await owner('GET', path)).status, 404)), 0)
  })
  await row('a 404 has no Age and no entity-tag', async (t) => {
    const { fields } = await owner('GET', '/nothing/')
    t.same([fields.age, fields.etag], [undefined, undefined])
  })
  await cachedRow(
    'RFC 9111 §4: simultaneous requests for a document that is not cached share reads of the store',
    async (t) => {
      const path = world.freshPath()
      await endUser.store.replace(world.origin + path, `<http://e/s> <http://e/p> "there before" .\n`)
      const asked = await asks(path, async () => {
        const answers = await Promise.all(Array.from({ length: 8 }, () => owner('GET', path)))
        t.ok(answers.every(({ status }) => status === 200))
      })
      t.ok(asked < 8, `${asked} reads`)
    },
  )
}

/** RFC 9110 §14.2: a server may ignore Range. */
async function partial({ row, make, owner }: Setting): Promise<void> {
  const rows: [name: string, fields: (tag: string) => Fields][] = [
    ['a range', () => ({ Range: 'bytes=0-3' })],
    ['a suffix', () => ({ Range: 'bytes=-3' })],
    ['beyond the end', () => ({ Range: 'bytes=1000000-' })],
    ['several ranges', () => ({ Range: 'bytes=0-1,3-4' })],
    ['another unit', () => ({ Range: 'triples=0-1' })],
    ['If-Range with the same entity-tag', (tag) => ({ Range: 'bytes=0-3', 'If-Range': tag })],
    ['If-Range with another', () => ({ Range: 'bytes=0-3', 'If-Range': '"x"' })],
  ]
  for (const [name, fieldsOf] of rows) {
    await row(`RFC 9110 §14.2: the response to Range is the whole document: ${name}`, async (t) => {
      const { path, got } = await make()
      const answer = await owner('GET', path, { fields: fieldsOf(got.fields.etag!) })
      t.same([answer.status, answer.text, answer.fields['content-range']], [200, got.text, undefined])
    })
  }
}

/** RFC 9110 §12.5.3: the field → the coding of the answer, or its status. */
const CODINGS: readonly (readonly [field: string | undefined, coding: string | undefined | 406])[] = [
  [undefined, undefined],
  ['', undefined],
  ['gzip', 'gzip'],
  ['br', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip;q=1.0, br;q=0.5', 'gzip'],
  ['gzip ; Q=0.3, identity;q=0.5', undefined],
  ['identity, gzip, br', 'br'],
  ['x-gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['*', 'br'],
  ['br;q=0, *;q=0.1', 'gzip'],
  ['deflate', undefined],
  ['gzip;q=0, br;q=0', undefined],
  ['identity;q=0, gzip;q=0.1', 'gzip'],
  ['*;q=0, gzip', 'gzip'],
  ['identity;q=0', 406],
  ['*;q=0', 406],
  ['gzip;q=2, br;level=5, ;,', undefined],
]
const plainOf = ({ fields, body }: Answer): string =>
  (fields['content-encoding'] === 'br'
    ? brotliDecompressSync(body)
    : fields['content-encoding'] === 'gzip'
      ? gunzipSync(body)
      : body
  ).toString()
const accepting = (coding: string, more: Fields = {}): { fields: Fields } => ({
  fields: { 'Accept-Encoding': coding, ...more },
})

async function codings({ row, cachedRow, make, owner, world }: Setting): Promise<void> {
  const long = 'long '.repeat(1_000)
  const { path, got } = await make(long)
  for (const [field, expected] of CODINGS) {
    await cachedRow(`RFC 9110 §12.5.3: Accept-Encoding: ${field ?? 'none'}: ${expected ?? 'identity'}`, async (t) => {
      const asked = field === undefined ? {} : accepting(field)
      const [get, head] = [await owner('GET', path, asked), await owner('HEAD', path, asked)]
      if (expected === 406) return t.same([get.status, head.status], [406, 406])
      t.same([get.status, get.fields['content-encoding']], [200, expected])
      t.equal(plainOf(get), got.text)
      t.equal(Number(get.fields['content-length']), get.body.length)
      t.equal(get.fields.etag, expected ? got.fields.etag!.replace(/"$/, `-${expected}"`) : got.fields.etag)
      t.equal(get.fields.vary, 'Accept, Accept-Encoding')
      const same = ({ fields: { date: _date, age: _age, ...others } }: Answer) => others
      t.same(same(head), same(get))
    })
  }
  await row('RFC 9110 §12.5.3: a short document is not coded', async (t) => {
    const short = await make('short')
    const answer = await owner('GET', short.path, accepting('gzip, br, identity;q=0'))
    t.same([answer.status, answer.fields['content-encoding'], answer.fields.vary], [200, undefined, 'Accept'])
    t.equal(answer.fields.etag, short.got.fields.etag)
  })
  await row('an answer that is not cached is neither coded nor refused', async (t) => {
    const other = await make(long)
    const answer = await owner('GET', other.path, accepting('gzip'))
    t.equal(plainOf(answer), other.got.text)
  })
  await cachedRow('RFC 9110 §8.8.3.3: each coding and format has a tag of its own', async (t) => {
    const tags = new Set<string>()
    for (const Accept of FORMATS)
      for (const coding of ['identity', 'gzip', 'br'])
        tags.add((await owner('GET', path, accepting(coding, { Accept }))).fields.etag!)
    t.equal(tags.size, 3 * FORMATS.length)
  })
  await cachedRow(
    'RFC 9110 §13.1.2, §15.4.5: 304 for a tag of any accepted coding, which it names again',
    async (t) => {
      const tag = got.fields.etag!
      const [zipped, brotli] = [tag.replace(/"$/, '-gzip"'), tag.replace(/"$/, '-br"')]
      // prettier-ignore
      const rows: [accepted: string, held: string, status: number, named: string][] = [
      ['gzip', zipped, 304, zipped],
      ['gzip, br', zipped, 304, zipped],
      ['gzip, br', `${tag}, W/${zipped}`, 304, zipped],
      ['gzip', tag, 304, tag],
      ['gzip', '*', 304, zipped],
      ['gzip', brotli, 200, zipped],
      ['identity', zipped, 200, tag],
      ['', tag, 304, tag],
    ]
      for (const [accepted, held, status, named] of rows) {
        const answer = await owner('GET', path, accepting(accepted, { 'If-None-Match': held }))
        t.same([answer.status, answer.fields.etag], [status, named], `${accepted}: ${held}`)
        t.equal(answer.fields.vary, 'Accept, Accept-Encoding')
      }
      const since = await owner('GET', path, accepting('br', { 'If-Modified-Since': got.fields['last-modified']! }))
      t.same([since.status, since.fields.etag], [304, brotli])
    },
  )
  await row('RFC 9110 §13.1.1: a write may name the tag of a coding; the next reader gets the new state', async (t) => {
    const other = await make(long)
    for (const coding of ['gzip', 'br']) {
      const tag = (await owner('GET', other.path)).fields.etag!.replace(/"$/, `-${coding}"`)
      await owner('GET', other.path, accepting(coding))
      const write = ttl(turtle(`"${coding} ${long}"`))
      const conditional = { ...write, fields: { ...write.fields, 'If-Match': tag } }
      t.equal((await owner('PUT', other.path, conditional)).status, 200)
      t.equal((await owner('PUT', other.path, conditional)).status, 412)
      t.match(plainOf(await owner('GET', other.path, accepting(coding))), `"${coding} long`)
    }
  })
  await cachedRow('a coding shows no agent more than it may read', async (t) => {
    t.equal((await world.as('stranger')('GET', path, accepting('gzip'))).status, 403)
    const refused = await world.as('anonymous')('GET', path, accepting('br'))
    t.same([refused.status, refused.fields['content-encoding']], [403, undefined], 'errors are not coded')
  })
  await cachedRow('simultaneous first readers of many documents: all are answered', async (t) => {
    const many = await Promise.all(Array.from({ length: 8 }, () => make(long)))
    const answers = await Promise.all(many.map((one) => owner('GET', one.path, accepting('br, gzip'))))
    answers.forEach((answer, i) => t.equal(plainOf(answer), many[i]!.got.text))
    const again = await Promise.all(many.map((one) => owner('GET', one.path, accepting('br, gzip'))))
    again.forEach((answer, i) => t.equal(plainOf(answer), many[i]!.got.text))
  })
}

async function codedResults({ cachedRow, owner, make }: Setting): Promise<void> {
  await make('result '.repeat(1_000))
  const query = `/sparql?query=${encodeURIComponent('SELECT ?o { GRAPH ?g { ?s <http://purl.org/dc/terms/title> ?o } }')}`
  for (const coding of ['gzip', 'br']) {
    await cachedRow(`a cached result in ${coding}, with a tag of its own`, async (t) => {
      const plain = await owner('GET', query)
      const got = await owner('GET', query, accepting(coding))
      t.same([got.status, got.fields['content-encoding'], plainOf(got)], [200, coding, plain.text])
      const tag = plain.fields.etag!.replace(/"$/, `-${coding}"`)
      t.same(
        [got.fields.etag, got.fields.vary, plain.fields.vary],
        [tag, 'Accept, Accept-Encoding', 'Accept, Accept-Encoding'],
      )
      for (const held of [tag, plain.fields.etag!]) {
        const unchanged = await owner('GET', query, accepting(coding, { 'If-None-Match': held }))
        t.same([unchanged.status, unchanged.fields.etag], [304, held])
      }
      t.equal((await owner('GET', query, accepting('*;q=0'))).status, 406)
    })
  }
}
