// HTTP caching as a client of the gateway sees it: the rows of the caching suites that are about a cache before an origin,
// in our own words, on both stores. Sections are of RFC 9110 (semantics) and RFC 9111 (caching).
import t, { type Test } from 'tap'
import { formatHttpDate } from '../../cache/http-date.js'
import { problem, type Problem } from '../../gateway/problem.js'
import type { GraphStore } from '../../gateway/stores/store.js'
import type { Answer, Client } from '../support/client.js'
import { cachedRowsOf, forEachStore, row } from '../support/stores.js'
import { makeWorld, ttl, turtle, type World } from '../support/world.js'

type Is = (name: string, run: (t: Test) => Promise<unknown>) => Promise<void>
type Fields = Record<string, string | string[]>

/** A store that tells which graphs were asked for, and fails a write with a given problem. */
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
  readonly is: Is
  /** A row about what is kept. */
  readonly isKept: Is
  /** How often the store was asked for the document while this ran. */
  asks(path: string, run: () => Promise<unknown>): Promise<number>
  /** A document with a title, and the answer to a GET of it. */
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
    is: (name, run) => row(t, kind, name, run),
    isKept: cachedRowsOf(t, kind),
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
  await requestDirectives(setting)
  await responseDirectives(setting)
  await invalidation(setting)
  await absence(setting)
  await partial(setting)
})

async function ages({ is, isKept, make, owner, world }: Setting): Promise<void> {
  await is('RFC 9111 §5.1: Age is a number of seconds without sign or fraction, on 200, 304 and HEAD', async (t) => {
    const { path, got } = await make()
    const unchanged = await owner('GET', path, { fields: { 'If-None-Match': got.fields.etag! } })
    t.equal(unchanged.status, 304)
    for (const { fields } of [got, unchanged, await owner('HEAD', path)]) t.match(fields.age, /^\d+$/)
  })
  await isKept(
    'RFC 9111 §4.2.3: Age grows with the time, in every format, for every agent; a write ends it',
    async (t) => {
      const { path } = await make()
      world.passTime(1_100)
      for (const [client, Accept] of [
        [owner, 'text/turtle'],
        [owner, 'application/ld+json'],
        [world.as('reader'), 'text/turtle'],
      ] as const) {
        t.ok(Number((await client('GET', path, { fields: { Accept } })).fields.age) >= 1)
      }
      await owner('PUT', path, ttl(turtle('"two"')))
      t.equal((await owner('GET', path)).fields.age, '0')
    },
  )
  await is('RFC 9111 §5.1: an Age that a client sends says nothing', async (t) => {
    const { path } = await make()
    t.ok(Number((await owner('GET', path, { fields: { Age: '7200' } })).fields.age) < 7200)
  })
}

const FORMATS = ['text/turtle', 'application/n-triples', 'application/rdf+xml', 'application/ld+json']

async function validators({ is, make, owner }: Setting): Promise<void> {
  await is('RFC 9110 §8.8.3: each format has a strong entity-tag of its own (spec 4.6)', async (t) => {
    const { path } = await make()
    const tags = await Promise.all(
      FORMATS.map(async (Accept) => (await owner('GET', path, { fields: { Accept } })).fields.etag!),
    )
    for (const tag of tags) t.match(tag, /^"[\x21\x23-\x7e]+"$/)
    t.equal(new Set(tags).size, FORMATS.length)
  })
  await is('RFC 9110 §8.8.1: the entity-tag stays while the content stays, and changes with it', async (t) => {
    const { path, got } = await make()
    t.equal((await owner('GET', path)).fields.etag, got.fields.etag)
    await owner('POST', path, ttl(turtle('"two"')))
    t.not((await owner('GET', path)).fields.etag, got.fields.etag)
  })
  await is('RFC 9110 §8.8.3: the entity-tag that a write answers with is that of the next GET', async (t) => {
    const { path } = await make()
    const written = await owner('PUT', path, ttl(turtle('"two"')))
    t.equal(written.fields.etag, (await owner('GET', path)).fields.etag)
  })
  await is('RFC 9110 §8.8.2: Last-Modified is a date that is not after Date', async (t) => {
    const { got } = await make()
    t.ok(Date.parse(got.fields['last-modified']!) <= Date.parse(got.fields.date!))
  })
}

/** What the rows need to know of the document: its tags and its date. */
interface Known {
  readonly tag: string
  readonly otherFormat: string
  readonly at: number
}

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
  ['§13.1.3: If-Modified-Since, the same date', ({ at }) => ({ 'If-Modified-Since': formatHttpDate(at) }), 304],
  ['§13.1.3: If-Modified-Since, later', ({ at }) => ({ 'If-Modified-Since': formatHttpDate(at + 5_000) }), 304],
  ['§13.1.3: If-Modified-Since, earlier', ({ at }) => ({ 'If-Modified-Since': formatHttpDate(at - 5_000) }), 200],
  ['§5.6.7: a date of RFC 850', ({ at }) => ({ 'If-Modified-Since': rfc850(at) }), 304],
  ['§5.6.7: a date of asctime', ({ at }) => ({ 'If-Modified-Since': asctime(at) }), 304],
  ['§13.1.3: a date that is none', () => ({ 'If-Modified-Since': 'tomorrow' }), 200],
  ['a date in ISO 8601', ({ at }) => ({ 'If-Modified-Since': new Date(at + 5_000).toISOString() }), 200],
  ['§5.6.7: a date in another zone', ({ at }) => ({ 'If-Modified-Since': formatHttpDate(at).replace('GMT', 'CET') }), 200],
  ['§13.1.3: beside If-None-Match, If-Modified-Since does not count: another tag', ({ at }) => ({ 'If-None-Match': '"x"', 'If-Modified-Since': formatHttpDate(at) }), 200],
  ['§13.1.3: beside If-None-Match, If-Modified-Since does not count: the same tag', ({ tag, at }) => ({ 'If-None-Match': tag, 'If-Modified-Since': formatHttpDate(at - 5_000) }), 304],
  ['§13.1.1: If-Match, the same', ({ tag }) => ({ 'If-Match': tag }), 200],
  ['§13.1.1: If-Match: *', () => ({ 'If-Match': '*' }), 200],
  ['§13.1.1: If-Match, another', () => ({ 'If-Match': '"x"' }), 412],
  ['§13.1.1: If-Match is compared strongly', ({ tag }) => ({ 'If-Match': `W/${tag}` }), 412],
  ['If-Match, malformed', ({ tag }) => ({ 'If-Match': tag.slice(1) }), 400],
  ['§13.1.4: If-Unmodified-Since, the same date', ({ at }) => ({ 'If-Unmodified-Since': formatHttpDate(at) }), 200],
  ['§13.1.4: If-Unmodified-Since, earlier', ({ at }) => ({ 'If-Unmodified-Since': formatHttpDate(at - 5_000) }), 412],
  ['§13.1.4: If-Unmodified-Since, no date', () => ({ 'If-Unmodified-Since': '0' }), 200],
  ['§13.2.2: If-Match goes before If-Unmodified-Since', ({ tag, at }) => ({ 'If-Match': tag, 'If-Unmodified-Since': formatHttpDate(at - 5_000) }), 200],
  ['§13.2.2: If-Match goes before If-None-Match: another, the same', ({ tag }) => ({ 'If-Match': '"x"', 'If-None-Match': tag }), 412],
  ['§13.2.2: both the same', ({ tag }) => ({ 'If-Match': tag, 'If-None-Match': tag }), 304],
  ['§13.2.2: If-Unmodified-Since goes before If-None-Match', ({ tag, at }) => ({ 'If-Unmodified-Since': formatHttpDate(at - 5_000), 'If-None-Match': tag }), 412],
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

async function conditions({ is, make, owner, world }: Setting): Promise<void> {
  const { path, got } = await make()
  const known: Known = {
    tag: got.fields.etag!,
    otherFormat: (await owner('GET', path, { fields: { Accept: 'application/ld+json' } })).fields.etag!,
    at: Date.parse(got.fields['last-modified']!),
  }
  for (const [name, fieldsOf, status] of CONDITIONS) {
    await is(`RFC 9110 ${name}: ${status}`, async (t) => {
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
  await is('RFC 9110 §13.2.1: a condition does not turn a 404 or a 403 into something else', async (t) => {
    const fields = { 'If-None-Match': '*', 'If-Modified-Since': formatHttpDate(known.at) }
    t.equal((await owner('GET', '/nothing/', { fields })).status, 404)
    t.equal((await world.as('nobody')('GET', path, { fields })).status, 403)
  })
}

async function variants({ is, isKept, make, owner, asks }: Setting): Promise<void> {
  await is('RFC 9111 §4.1: Vary names Accept on 200, 304, 404 and 406', async (t) => {
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
  await isKept(
    'RFC 9111 §4.1: variants do not mix, in whichever order they are asked for; one question at the store',
    async (t) => {
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
    },
  )
  await is('RFC 9110 §12.5.1: what is accepted decides, not how the field is spelled', async (t) => {
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
  await is('a 406 is not remembered for what can be given', async (t) => {
    const { path } = await make()
    t.equal((await owner('GET', path, { fields: { Accept: 'image/png' } })).status, 406)
    t.equal((await owner('GET', path)).status, 200)
  })
}

async function heads({ is, make, owner }: Setting): Promise<void> {
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
    await is(`RFC 9110 §9.3.2: HEAD has the fields of GET, and no content: ${name}`, async (t) => {
      const [head, get] = [await owner('HEAD', at, { fields }), await owner('GET', at, { fields })]
      const comparable = ({ fields: { date: _date, age: _age, ...others } }: Answer) => others
      t.same([head.status, get.status], [status, status])
      t.same(comparable(head), comparable(get))
      t.equal(head.text, '')
    })
  }
}

/**
 * RFC 9111 §5.2.1: a cache may leave them alone. This one is part of the origin: what it keeps is what is there, since
 * writes go through it; whoever writes behind it says so to the operator's purge. Otherwise every reload in a browser
 * (`max-age=0`) would be a question at the store, for anyone who may read.
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

async function requestDirectives({ is, isKept, make, owner, asks }: Setting): Promise<void> {
  for (const fields of REQUEST_DIRECTIVES) {
    const name = Object.entries(fields)
      .map((pair) => pair.join(': '))
      .join(', ')
    await isKept(`RFC 9111 §5.2.1, §5.4: a reader does not decide what is kept: ${name}`, async (t) => {
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
  await is('RFC 9111 §5.2.1.7: only-if-cached of what is not kept is answered all the same', async (t) => {
    t.equal((await owner('GET', '/nothing-yet/', { fields: { 'Cache-Control': 'only-if-cached' } })).status, 404)
  })
}

async function responseDirectives({ is, make, owner, world }: Setting): Promise<void> {
  await is('RFC 9111 §5.2.2.7: what an agent may read is private, and validated before it is used again', async (t) => {
    t.equal((await make()).got.fields['cache-control'], 'private, no-cache')
  })
  await is('RFC 9111 §5.2.2.9: what everyone may read is public to nobody in particular', async (t) => {
    const { path } = await make()
    const acl = 'http://www.w3.org/ns/auth/acl#'
    const rule = `<#open> a <${acl}Authorization> ; <${acl}mode> <${acl}Read> ;
      <${acl}agentClass> <http://xmlns.com/foaf/0.1/Agent> ; <${acl}accessTo> <${world.origin}${path}> .`
    t.equal((await owner('PUT', '/admin/acl/authorizations/open-caching/', ttl(rule))).status, 201)
    t.equal((await world.as('nobody')('GET', path)).fields['cache-control'], 'public, no-cache')
    t.equal((await owner('GET', path)).fields['cache-control'], 'private, no-cache')
    t.equal((await owner('DELETE', '/admin/acl/authorizations/open-caching/')).status, 204)
    t.equal((await world.as('nobody')('GET', path)).status, 403, 'whatever is kept')
  })
  await is('RFC 9111 §5.2.2.5: errors are not stored', async (t) => {
    const { path } = await make()
    const answers = [
      await world.as('nobody')('GET', path),
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
  const { is, isKept, make, owner, asks, endUser, world } = setting
  const writes: [method: string, send: Parameters<Client>[2], status: number, after: number][] = [
    ['PUT', ttl('<http://e/s> <http://e/p> "new" .'), 200, 200],
    ['POST', ttl('<http://e/s> <http://e/p> "new" .'), 204, 200],
    ['PATCH', { fields: UPDATE, body: insert }, 204, 200],
    ['DELETE', {}, 204, 404],
  ]
  for (const [method, send, status, after] of writes) {
    await is(`RFC 9111 §4.4: ${method} is seen by the next reader, in every format`, async (t) => {
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
    ['PUT of what cannot be read', 'PUT', ttl('<> <'), 400],
    ['PUT in another format', 'PUT', { fields: { 'Content-Type': 'image/png' }, body: 'x' }, 415],
    ['POST without content', 'POST', {}, 415],
    ['PATCH of another form', 'PATCH', { fields: UPDATE, body: 'CLEAR ALL' }, 422],
    ['DELETE with another entity-tag', 'DELETE', { fields: { 'If-Match': '"x"' } }, 412],
    ['a method that there is not', 'PURGE', {}, 405],
  ]
  for (const [name, method, send, status] of refused) {
    await isKept(
      `RFC 9111 §4.4: a write that is refused leaves everything as it was: ${name}: ${status}`,
      async (t) => {
        const { path, got } = await make()
        t.equal((await owner(method, path, send)).status, status)
        const asked = await asks(path, async () => {
          const after = await owner('GET', path)
          t.same([after.text, after.fields.etag], [got.text, got.fields.etag])
        })
        t.equal(asked, 0)
      },
    )
  }
  await isKept('RFC 9111 §4.4: a write by who may not write leaves everything as it was: 403', async (t) => {
    const { path } = await make()
    t.equal((await world.as('stranger')('DELETE', path)).status, 403)
    t.equal(await asks(path, () => owner('GET', path)), 0)
  })
  await isKept('a write elsewhere leaves everything as it was', async (t) => {
    const [{ path }, other] = [await make(), await make()]
    await owner('PUT', other.path, ttl(turtle('"two"')))
    t.equal(await asks(path, () => owner('GET', path)), 0)
  })
  await is('a write whose outcome is not known: the next reader is told what the store has', async (t) => {
    const { path, got } = await make()
    endUser.failWrites(problem('store.failed', 'It broke off.'))
    t.equal((await owner('PUT', path, ttl(turtle('"two"')))).status, 502)
    endUser.failWrites(undefined)
    const asked = await asks(path, async () => t.equal((await owner('GET', path)).text, got.text))
    t.equal(asked, 1)
  })
}

async function absence({ is, isKept, owner, asks, make, world, endUser }: Setting): Promise<void> {
  await isKept('RFC 9110 §15.5.5: that there is no document is remembered, until there is one', async (t) => {
    const path = world.freshPath()
    const asked = await asks(path, async () => {
      for (const method of ['GET', 'HEAD', 'GET']) t.equal((await owner(method, path)).status, 404)
    })
    t.equal(asked, 1)
    t.equal((await owner('PUT', path, ttl(turtle('"here"')))).status, 201)
    t.match((await owner('GET', path)).text, /here/)
  })
  await isKept('after DELETE nobody has to ask the store that there is nothing', async (t) => {
    const { path } = await make()
    await owner('DELETE', path)
    t.equal(await asks(path, async () => t.equal((await owner('GET', path)).status, 404)), 0)
  })
  await is('a 404 has no Age and no entity-tag', async (t) => {
    const { fields } = await owner('GET', '/nothing/')
    t.same([fields.age, fields.etag], [undefined, undefined])
  })
  await isKept(
    'RFC 9111 §4: requests for what is not kept yet are answered by one question at the store',
    async (t) => {
      const path = world.freshPath()
      await endUser.store.replace(world.origin + path, `<http://e/s> <http://e/p> "there before" .\n`)
      const asked = await asks(path, async () => {
        const answers = await Promise.all(Array.from({ length: 8 }, () => owner('GET', path)))
        t.ok(answers.every(({ status }) => status === 200))
      })
      t.ok(asked < 8, `${asked} questions`)
    },
  )
}

/** RFC 9110 §14.2: a server may leave Range alone. */
async function partial({ is, make, owner }: Setting): Promise<void> {
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
    await is(`RFC 9110 §14.2: Range is answered with the whole: ${name}`, async (t) => {
      const { path, got } = await make()
      const answer = await owner('GET', path, { fields: fieldsOf(got.fields.etag!) })
      t.same([answer.status, answer.text, answer.fields['content-range']], [200, got.text, undefined])
    })
  }
}
