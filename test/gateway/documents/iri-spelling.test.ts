// Names beyond ASCII: each URL means one name, and each document has one URL.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { isDocumentOf } from '../../../gateway/documents/document.js'
import {
  makeNames,
  NONE,
  type FoundNames,
  type Names,
  type NameSource,
} from '../../../gateway/documents/iri-spelling.js'
import { makeLog } from '../../../gateway/log.js'
import type { TimeMapJson } from '../../../gateway/memento/time-map.js'
import { otherGraphsIn } from '../../../gateway/mirror/other-graphs.js'
import { isFailure } from '../../../gateway/problem.js'
import { learnNames } from '../../../gateway/start/known-names.js'
import { uriOf } from '../../../versioning/memento/time-map.js'
import { checkSound, git } from '../../support/bare-repository.js'
import { makeClient } from '../../support/client.js'
import { makePlace, triple } from '../../support/mirror.js'
import { forEachStore, rowsOf } from '../../support/stores.js'
import { until } from '../../support/wait.js'
import { ttl, turtle } from '../../support/world.js'

const base = 'https://ex.org/'
const isUrl = (url: string): boolean => isDocumentOf({ base, kind: 'end-user' }, `${base}admin/`, url)
const sourceOf =
  (stored: readonly string[]): NameSource =>
  (_, take) => {
    stored.forEach(take)
    return Promise.resolve(undefined)
  }

async function learned(stored: readonly string[], remembered = NONE): Promise<{ names: Names; known: FoundNames }> {
  const names = makeNames(base, isUrl, remembered)
  const known = await names.learn(sourceOf(stored))
  if (isFailure(known)) throw new Error(known.detail)
  return { names, known }
}

void t.test('RFC 3987 §3.1: the name that a URL means', async (t) => {
  const before: FoundNames = { literal: [`${base}ä/`], encoded: [] }
  // prettier-ignore
  const rows = [
    ['a name of the store', ['ä/'], '%C3%A4/', 'ä/'],
    ['a name below a container', ['ä/'], '%C3%A4/%C3%B6/b/', 'ä/%C3%B6/b/'],
    ['the container above a name', ['ä/ö/'], '%C3%A4/', 'ä/'],
    ['no such name', ['ä/'], '%C3%B6/', '%C3%B6/'],
    ['both spellings', ['ä/', '%C3%A4/'], '%C3%A4/', '%C3%A4/'],
    ['a percent-encoded name below a container', ['ä/', '%C3%A4/b/'], '%C3%A4/b/c/', '%C3%A4/b/c/'],
    ['a sibling of that name', ['ä/', '%C3%A4/b/'], '%C3%A4/c/', 'ä/c/'],
    ['a spelling for each segment', ['%C3%A4/ö/', '%C3%A4/'], '%C3%A4/%C3%B6/', '%C3%A4/ö/'],
    ['other spellings', ['a b/', '<ä>/', '%c3%a4/', 'ä', 'ä//b/', 'ä/?b/', 'admin/ä/', '\u0085/'], '%C3%A4/', '%C3%A4/'],
    ['a deleted document', [], '%C3%A4/', 'ä/', before],
    ['a newer percent-encoded name', ['ä/', '%C3%A4/'], '%C3%A4/', 'ä/', before],
    ['the same after a deletion', ['%C3%A4/'], '%C3%A4/', '%C3%A4/', before],
  ] as const
  for (const [what, stored, url, name, remembered] of rows) {
    const { names } = await learned(stored.map((one) => base + one), remembered) // prettier-ignore
    t.equal(names.nameOf(base + url), base + name, what)
    for (const one of [url, name]) t.equal(names.isDocument(base + one), one === name, `${what}: ${one}`)
  }
  const many = Array.from({ length: 10_001 }, (_, i) => `${base}%C3%A4/${i}/`)
  const stored = [`${base}ä/`, `${base}ä/x/`, `${base}ö/`, `${base}%C3%B6/y/`, ...many]
  const { names, known } = await learned(stored, { literal: [`${base}ä/`, `${base}ä/deleted/`], encoded: [] })
  const meant = ['ä/', 'ä/deleted/z/', 'ö/', 'ö/z/'].map((name) => names.nameOf(uriOf(base + name)).slice(base.length))
  t.same(meant, ['%C3%A4/', '%C3%A4/deleted/z/', 'ö/', 'ö/z/'], 'too many of both spellings: below that container, URLs are names') // prettier-ignore
  t.equal(names.nameOf(`${base}%C3%B6/y/`), `${base}%C3%B6/y/`)
  t.same(known.literal, [`${base}ö/`])
  const three = [['ä', 4_000], ['ö', 4_000], ['ü', 4_001]].flatMap(([name, count]) =>
    Array.from({ length: Number(count) }, (_, i) => `${base}${encodeURI(String(name))}/${i}/`)) // prettier-ignore
  for (const rows of [three, three.toReversed()]) {
    const { known } = await learned([`${base}ä/`, `${base}ö/`, `${base}ü/`, ...rows])
    t.same(
      [known.literal.toSorted(), known.encoded.length],
      [[`${base}ä/`, `${base}ö/`], 8_000],
      'in any order of rows',
    )
  }
})

void t.test('a URL means one name, no two URLs mean the same, and a restart changes no meaning', async (t) => {
  const segments = fc.array(fc.constantFrom('ä', '%C3%A4', 'ß', '%C3%9F', 'a'), { minLength: 1, maxLength: 3 })
  const name = segments.map((each) => `${base}${each.join('/')}/`)
  const all = fc.uniqueArray(name, { maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(all, all, all, fc.array(name), async (stored, made, later, asked) => {
      const first = await learned(stored)
      // Documents created at their URLs, and then graphs with any names behind the gateway.
      const documents = [...stored, ...made.map((one) => first.names.nameOf(uriOf(one)))]
      const again = await learned([...documents, ...later], first.known)
      for (const { names } of [first, again]) {
        for (const one of [...asked, ...stored, ...later]) {
          const [url, meant] = [uriOf(one), names.nameOf(uriOf(one))]
          // So the URL can be restored, and no two documents are merged.
          if (uriOf(meant) !== url) throw new Error(`${url} means ${meant}`)
          if (names.nameOf(meant) !== meant || !names.isDocument(meant)) throw new Error(`${meant} is not a document`)
          if (names.isDocument(one) !== (one === meant)) throw new Error(`${one} and ${meant} have one URL`)
        }
      }
      for (const one of stored) {
        const meant = first.names.nameOf(uriOf(one))
        if (!stored.includes(meant)) throw new Error(`${uriOf(one)} means no graph of the store`)
        if (one === uriOf(one) && meant !== one) throw new Error(`${one} has lost its URL`)
      }
      for (const one of documents) {
        const url = uriOf(one)
        if (again.names.nameOf(url) !== first.names.nameOf(url)) throw new Error(`${url} means another graph now`)
      }
    }),
    { numRuns: 500 },
  )
  t.pass()
})

void t.test('an embedded store has the names of its history; they are remembered', async (t) => {
  const data = mkdtempSync(join(tmpdir(), 'triplegate-names-'))
  t.teardown(() => rmSync(data, { recursive: true, force: true }))
  const start = async (committed: readonly string[], uncommitted: readonly string[]): Promise<Names> => {
    const history = {
      repository: { files: () => committed.map((path) => ({ path })) },
      history: { uncommitted: () => uncommitted.map((document) => ({ document })) },
      documentOf: (path: string) => (path.endsWith('/') ? path : undefined),
    }
    const surroundings = { settings: { data }, log: makeLog('silent') }
    const application = { base, isEmpty: true, mayBeOld: true }
    const stored = { history } as unknown as Parameters<typeof learnNames>[2]
    return (await learnNames(application, isUrl, stored, surroundings)).names
  }
  const first = await start([`${base}ä/`, `${base}x`, `${base}%C3%A4/y/`], [`${base}ö/`])
  const asked = ['%C3%A4/', '%C3%A4/y/', '%C3%B6/'].map((url) => base + url)
  t.same(asked.map(first.nameOf), [`${base}ä/`, `${base}%C3%A4/y/`, `${base}ö/`])
  const again = await start([], [])
  t.same(asked.map(again.nameOf), [`${base}ä/`, `${base}ä/y/`, `${base}ö/`])
  for (const changed of ['', 'null', '[1]', '{', `{"${base}":{}}`, `{"${base}":{"literal":["x"],"encoded":[]}}`]) {
    writeFileSync(join(data, 'document-names.json'), changed)
    t.equal((await start([`${base}ä/`], [])).nameOf(`${base}%C3%A4/`), `${base}ä/`, `a changed file: ${changed}`)
  }
})

/** Turtle of a rule for everyone. */
const open = (mode: string, on: string): { fields: Record<string, string>; body: string } =>
  ttl(
    `@prefix acl: <http://www.w3.org/ns/auth/acl#> . <#this> a acl:Authorization ; acl:mode acl:${mode} ; ${on} ; acl:agentClass <http://xmlns.com/foaf/0.1/Agent> .`,
  )

void forEachStore(t, 'graphs with names beyond ASCII in', async (t, makeStores, kind) => {
  const row = rowsOf(t, kind)
  const place = await makePlace(t)
  const stores = await makeStores()
  const { base } = place
  const [street, item, encoded] = [`${base}Straße/`, `${base}Straße/ä/`, `${base}Stra%C3%9Fe/y/`]
  const url = '/Stra%C3%9Fe/'
  for (const name of [street, item, encoded, `${base}ö/`, `${base}%C3%B6/`])
    await stores.endUser.replace(name, triple(name, name))
  const SIOC = 'http://rdfs.org/sioc/ns#'
  const container = `<${street}> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> ; <${SIOC}has_parent> <${base}> .`
  await stores.endUser.update(
    `INSERT DATA { GRAPH <${street}> { ${container} } GRAPH <${item}> { <${item}> <${SIOC}has_container> <${street}> } }`,
  )
  let started = await place.start(stores)
  const anonymous = makeClient({
    port: Number(new URL(base).port),
    ca: readFileSync(join(place.folder, 'certs/server.pem'), 'utf8'),
  })
  t.teardown(anonymous.close)
  const committed = async () => t.ok(await started.running.dataspaces[0]!.endUser.history!.settled(60_000))
  const versions = async (path: string): Promise<TimeMapJson['versions']> => {
    const { text } = await started.owner('GET', `${path}?timemap`, { fields: { Accept: 'application/json' } })
    return (JSON.parse(text) as TimeMapJson).versions
  }

  await row('each is a document at its URL (RFC 3987 §3.1); of two spellings the percent-encoded one', async (t) => {
    const rows = [[url, street], [`${url}%C3%A4/`, item], [`${url}y/`, encoded], ['/%C3%B6/', `${base}%C3%B6/`], [new URL(street).pathname, street]] as const // prettier-ignore
    for (const [path, name] of rows) {
      const { status, text, fields } = await started.owner('GET', path, { fields: { Accept: 'application/n-triples' } })
      t.same([status, text.includes(triple(name, name).trim())], [200, true], path)
      t.match(fields.link, `<${base.slice(0, -1)}${path}?timemap>; rel="timemap"`)
    }
    const { isDocument } = started.running.dataspaces[0]!.endUser
    const others = await otherGraphsIn(stores.endUser, isDocument, [base], undefined)
    t.match(others, { count: 1, unreachable: 1, renamable: 0, graphs: [`${base}ö/`] }, 'the start reports the other')
  })
  await row('a refusal does not show which of them exist', async (t) => {
    const page = { fields: { Accept: 'text/html' } }
    const rows: readonly (readonly [method: string, path: (name: string) => string, status: number, send?: object])[] =
      [
        ['GET', (name) => `/${name}/`, 403],
        ['GET', (name) => `/${name}/`, 403, page],
        ['PUT', (name) => `/${name}/new/`, 403, ttl('<> <urn:p> "x" .')],
        ['GET', (name) => `/access?this=${encodeURIComponent(`${base}${name}/`)}`, 200, page],
      ]
    for (const [method, path, status, send = {}] of rows) {
      const answers: string[] = []
      // The second does not exist.
      for (const name of ['Stra%C3%9Fe', 'Spro%C3%9Fe']) {
        const answer = await anonymous(method, path(name), send)
        t.equal(answer.status, status, `${method} ${path(name)}`)
        const id = String(answer.fields['x-request-id'])
        const spellings = [encodeURIComponent(name), name, decodeURIComponent(name)]
        const fields = { ...answer.fields, date: undefined }
        answers.push(
          [id, ...spellings].reduce((text, one) => text.replaceAll(one, '…'), JSON.stringify([answer.text, fields])),
        )
      }
      t.equal(answers[0], answers[1], `${method} ${path('')}`)
    }
  })
  await row('each is written, listed and versioned under its own name, with URLs in the fields', async (t) => {
    const made = await started.owner('PUT', `${url}b%C3%A4r/`, ttl(turtle('"bear"')))
    t.same([made.status, made.fields.location], [201, `${base}Stra%C3%9Fe/b%C3%A4r/`])
    const found = await started.owner('GET', `${url}b%C3%A4r/`, { fields: { Accept: 'application/n-triples' } })
    t.match(found.text, `<${street}b%C3%A4r/> <${SIOC}has_container> <${street}> .`)
    const patch = {
      fields: { 'Content-Type': 'application/sparql-update' },
      body: 'INSERT { <> <urn:p> "new" } WHERE {}',
    }
    const patched = await started.owner('PATCH', `${url}%C3%A4/`, patch)
    t.same([patched.status, patched.fields['content-location']], [204, `${base}Stra%C3%9Fe/%C3%A4/`])
    await committed()
    const [first, second] = await versions(`${url}%C3%A4/`)
    t.same([first?.method, second?.method], ['SWEEP', 'PATCH'])
    const memento = await started.owner('GET', new URL(first!.uri!).pathname + new URL(first!.uri!).search)
    t.match(memento, { status: 200, text: /Straße/, fields: { link: `<${base}Stra%C3%9Fe/%C3%A4/>; rel="original"` } })
    const gate = await started.owner('GET', `${url}%C3%A4/?timegate`)
    t.same([gate.status, gate.fields.location], [302, second!.uri])
    t.match((await started.owner('GET', url, { fields: { Accept: 'text/html' } })).text, /b%C3%A4r/)
    const files = git(place.repository, ['ls-tree', '-r', '--name-only', '-z', 'main']).split('\0')
    t.ok(files.includes('graphs/Stra%5FC3%5F9Fe/b%C3%A4r.nt'), files.join(' '))
    t.match(await place.run(stores, 'verify'), { code: 0 })
  })
  await row("at the store's own URLs no refusal says which spelling a document has", async (t) => {
    const asked = (name: string, more = ''): string => `/ds/data?graph=${encodeURIComponent(base + name)}${more}`
    for (const name of [
      'Straße/',
      'Stra%C3%9Fe/',
      'ö/',
      '%C3%B6/',
      'Straße/none/',
      'Stra%C3%9Fe/none/',
      'ü/',
      '%C3%BC/',
    ]) {
      const statuses = [(await anonymous('GET', asked(name))).status]
      for (const [method, more] of [
        ['GET', '&timemap'],
        ['PUT', ''],
        ['POST', ''],
        ['DELETE', ''],
      ] as const)
        statuses.push((await anonymous(method, asked(name, more), method === 'GET' ? {} : ttl(''))).status)
      t.same(statuses, [401, 401, 401, 401, 401], name)
    }
    t.match(await started.owner('GET', asked('Stra%C3%9Fe/')), { status: 404, text: /its URL means another graph/ })
    t.match(await started.owner('GET', asked('Straße/')), { status: 200 })
  })
  await row('rights name the document, and no other spelling of it', async (t) => {
    const read = async (): Promise<number[]> => {
      const statuses: number[] = []
      for (const path of [url, `${url}%C3%A4/`, `${url}y/`]) statuses.push((await anonymous('GET', path)).status)
      return statuses
    }
    const rule = '/admin/acl/authorizations/street/'
    const rows = [
      [`acl:accessTo <${item}>`, [403, 200, 403]],
      [`acl:default <${street}>`, [403, 200, 403]],
      [`acl:accessTo <${base}Stra%C3%9Fe/>`, [403, 403, 403]],
      [`acl:default <${base}Stra%C3%9Fe/>`, [403, 403, 200]],
    ] as const
    for (const [on, statuses] of rows) {
      t.ok((await started.owner('PUT', rule, open('Read', on))).status < 300)
      t.same(await read(), statuses, on)
    }
  })
  await row('the URL of a deleted document means it after a start, with its history', async (t) => {
    t.equal((await started.owner('DELETE', `${url}%C3%A4/`)).status, 204)
    await committed()
    await started.running.close(1_000)
    await stores.endUser.replace(`${base}Stra%C3%9Fe/`, triple(`${base}Stra%C3%9Fe/`, 'newer'))
    started = await place.start(stores)
    t.same(
      (await versions(`${url}%C3%A4/`)).map(({ method }) => method),
      ['SWEEP', 'PATCH', 'DELETE'],
    )
    t.match((await started.owner('GET', url)).text, /Straße/, 'the other spelling is newer')
    t.equal((await started.owner('PUT', `${url}%C3%A4/`, ttl(turtle('"again"')))).status, 201)
    t.match(await stores.endUser.read(item), /"again"/)
    checkSound(t, place.repository)
    await started.running.close(1_000)
  })
  await row(
    'a name that came while no gateway ran is known soon after the next start, which does not wait for it',
    async (t) => {
      const name = `${base}Grün/`
      await stores.endUser.replace(name, triple(name, 'green'))
      started = await place.start(stores)
      const { text } = await until(async () => {
        const answer = await started.owner('GET', '/Gr%C3%BCn/', { fields: { Accept: 'application/n-triples' } })
        return answer.status === 200 && answer
      })
      t.match(text, 'green')
      const file = readFileSync(join(place.folder, 'document-names.json'), 'utf8')
      t.match(file, 'Grün', 'it is remembered')
      await started.running.close(1_000)
    },
  )
})
