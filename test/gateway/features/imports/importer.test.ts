// The endpoint `importer` (spec 4.3, LinkedDataHub 2.8): documents in bulk, and imports of CSV and RDF in the
// background.
import { mkdirSync, readdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { TOKENS } from '../../../../gateway/features/tokens/issued-tokens.js'
import { IMPORTING, mayStart, type Importing, type ImportRun } from '../../../../gateway/features/imports/importing.js'
import { runImportCommand } from '../../../../gateway/features/imports/command.js'
import type { Answer, Send } from '../../../support/client.js'
import { forEachStore, rowsOf } from '../../../support/stores.js'
import { accept, makeWorld, ttl, turtle, update } from '../../../support/world.js'
import { until } from '../../../support/wait.js'

/**
 * The sources of imports that this process has open and that were written since this time. A file may be closed
 * meanwhile.
 */
const openSources = (since: number): string[] =>
  readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${name}`)
      const isSource = /\/source(?: \(deleted\))?$/.test(path)
      return isSource && statSync(`/proc/self/fd/${name}`).mtimeMs >= since ? [path] : []
    } catch {
      return []
    }
  })

const TGI = 'urn:triplegate:import#'
const encoded = encodeURIComponent
const csv = (body: string | Buffer): Send => ({ fields: { 'Content-Type': 'text/csv' }, body })
const quads = (body: string | Buffer, type = 'application/n-quads'): Send => ({ fields: { 'Content-Type': type, Accept: 'application/n-triples' }, body }) // prettier-ignore

void t.test('running and waiting imports are limited, for one agent and for all; ended ones do not count', (t) => {
  const rows: [
    name: string,
    state: 'waiting' | 'running' | 'done',
    ofAgent: number,
    ofNetwork: number,
    ofOthers: number,
    may: boolean,
  ][] = [
    ['none', 'waiting', 0, 0, 0, true],
    ['15 of the agent', 'waiting', 15, 0, 10, true],
    ['16 of the agent', 'waiting', 16, 0, 0, false],
    ['16 that run', 'running', 16, 0, 0, false],
    ['31 of its network', 'waiting', 5, 26, 0, true],
    ['32 of its network', 'waiting', 5, 27, 0, false],
    ['64 of all', 'waiting', 0, 0, 64, false],
    ['many that have ended', 'done', 50, 50, 50, true],
  ]
  for (const [name, state, ofAgent, ofNetwork, ofOthers, may] of rows) {
    const run = (agent: string, network: string) => ({ agent, network, progress: { state } }) as ImportRun
    const all = [
      ...Array.from({ length: ofAgent }, () => run('urn:a', 'n')),
      ...Array.from({ length: ofNetwork }, (_, i) => run(`urn:n${i}`, 'n')),
      ...Array.from({ length: ofOthers }, (_, i) => run(`urn:b${i}`, `b${i}`)),
    ]
    const runs = new Map(all.map((one, i) => [`${i}`, one]))
    t.equal(mayStart({ parts: new Map([IMPORTING.with({ runs } as Importing)]) }, 'urn:a', 'n'), may, name)
  }
  t.end()
})

void t.test('importer', async (t) => {
  await forEachStore(t, 'importer', async (t, makeStores, kind) => {
    const { endUser, admin } = await makeStores()
    const flags = ['--history', 'local', '--max-import', '3000000']
    const world = await makeWorld(t, { endUser, admin }, { flags })
    const row = rowsOf(t, kind)
    const { base } = world
    /** For rows about reading the request, where the kind of store does not matter. */
    const rowOfReading = (...of: Parameters<typeof row>) => (kind === 'embedded' ? row(...of) : undefined)
    const owner = world.as('owner')
    const writer = world.as('writer')
    const textOf = async (path: string): Promise<string> =>
      (
        await owner(
          'GET',
          (({ pathname, search }) => pathname + search)(new URL(path, base)),
          accept('application/n-triples'),
        )
      ).text
    const numberOf = (text: string, property: string): number =>
      Number(new RegExp(`<${TGI}${property}> "(\\d+)"`).exec(text)?.[1])
    const versionsOf = async (path: string): Promise<number> =>
      (await owner('GET', `${path}?timemap`, accept('application/link-format'))).text.match(/rel="[^"]*memento/g)
        ?.length ?? 0
    /** The state of a background import after its end. */
    const endOf = async (answer: Answer): Promise<string> => {
      const { pathname } = new URL(answer.fields.location!)
      return until(async () => {
        const text = await textOf(pathname)
        return !/#(?:Waiting|Running)>/.test(text) && text
      })
    }
    const container = async (): Promise<string> => {
      const path = world.freshPath()
      await writer('PUT', path, ttl(`<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> ; <http://purl.org/dc/terms/title> "C" .`)) // prettier-ignore
      return path
    }
    const inside = (path: string, name: string): string => new URL(`${path.slice(1)}${name}`, base).href

    await row('bulk: documents are created, parents before their children, and replaced', async (t) => {
      const path = await container()
      const [parent, child] = [inside(path, 'z/'), inside(path, 'z/a/')]
      const body = `<urn:s> <urn:p> "child" <${child}> .\n<${parent}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://www.w3.org/ns/ldt/document-hierarchy#Container> <${parent}> .\n_:b <urn:p> "node" <${child}> .\n`
      const first = await writer('POST', '/importer', quads(body))
      t.equal(first.status, 200)
      t.same(
        ['documents', 'written', 'refused'].map((one) => numberOf(first.text, one)),
        [2, 2, 0],
      )
      const content = await textOf(child)
      t.ok(content.includes('<urn:s> <urn:p> "child"'))
      t.match(content, new RegExp(`<${child}#id[0-9a-f]{32}> <urn:p> "node"`))
      t.ok(content.includes(`<http://purl.org/dc/terms/creator> <${world.webIdOf('writer')}>`))
      const second = await writer('POST', '/importer', quads(body))
      t.same(
        ['written', 'unchanged'].map((one) => numberOf(second.text, one)),
        [0, 2],
      )
      t.equal(await versionsOf(new URL(child).pathname), 1, 'a second run changes nothing')
      const third = await writer('POST', '/importer', quads(`GRAPH <${child}> { <urn:s> <urn:p> "other" }`, 'application/trig')) // prettier-ignore
      t.equal(numberOf(third.text, 'written'), 1)
      t.notOk((await textOf(child)).includes('"child"'))
      const packed = quads(gzipSync(`<urn:s> <urn:p> "packed" <${child}> .`))
      const fourth = await writer('POST', '/importer', {
        ...packed,
        fields: { ...packed.fields, 'Content-Encoding': 'gzip' },
      })
      t.equal(numberOf(fourth.text, 'written'), 1)
    })
    await row('bulk: a document that is refused does not stop the others, unless asked', async (t) => {
      const path = await container()
      const body = (name: string): string => `<urn:s> <urn:p> 1 <${inside(path, `missing/${name}/`)}> .\n<urn:s> <urn:p> "x" <${inside(path, `${name}/`)}> .\n<urn:s> <urn:p> "x" <https://elsewhere.test/x/> .\n<urn:s> <urn:p> "x" <${world.ownerWebId.replace('#this', '')}> .\n` // prettier-ignore
      const one = await writer('POST', '/importer', quads(body('a').replace(' 1 ', ' "1" ')))
      t.same(
        ['written', 'refused'].map((name) => numberOf(one.text, name)),
        [1, 3],
      )
      t.ok(one.text.includes(`<${TGI}document> "https://elsewhere.test/x/"`))
      const two = await writer('POST', '/importer?stop', quads(body('b').replace(' 1 ', ' "1" ')))
      t.ok(two.text.includes(`<${TGI}state> <${TGI}Failed>`))
      const many = ['https://elsewhere.test/x/y/', ...Array.from({ length: 140 }, (_, i) => inside(path, `n${i + 1000}/`))] // prettier-ignore
      const three = await writer('POST', '/importer?stop', quads(many.map((graph) => `<urn:s> <urn:p> "x" <${graph}> .\n`).join(''))) // prettier-ignore
      t.equal(numberOf(three.text, 'refused'), 1)
      t.equal((await owner('GET', `${path}n1139/`)).status, 404, 'the next group is not written')
    })
    const placeless: [name: string, type: string, body: (path: string) => string, counts: readonly number[]][] = [
      ['N-Quads, beside a graph', 'application/n-quads', (path) => `<urn:s> <urn:p> "lost" .\n<urn:s> <urn:p> "x" <${inside(path, 'a/')}> .\n`, [2, 1, 1, 1]], // prettier-ignore
      ['N-Quads alone', 'application/n-quads', () => '<urn:s> <urn:p> "lost" .\n', [1, 0, 1, 1]],
      ['TriG, beside a graph', 'application/trig', (path) => `<urn:s> <urn:p> "lost" . <${inside(path, 'b/')}> { <urn:s> <urn:p> 1 }`, [2, 1, 1, 1]], // prettier-ignore
    ]
    for (const [name, type, body, counts] of placeless) {
      await row(`triples without a graph and a document for them are refused, and reported: ${name}`, async (t) => {
        const path = await container()
        const inBackground = quads(body(path), type)
        const headers = { ...inBackground.fields, Prefer: 'respond-async' }
        const answers = [
          (await writer('POST', '/importer', quads(body(path), type))).text,
          await endOf(await writer('POST', '/importer', { ...inBackground, fields: headers })),
        ]
        for (const [i, state] of answers.entries()) {
          const outcome = ['documents', i === 0 ? 'written' : 'unchanged', 'refused', 'problems']
          t.same(outcome.map((one) => numberOf(state, one)), counts) // prettier-ignore
          t.match(state, /"Triples without a graph are left out/)
        }
        t.match((await writer('POST', '/importer?dry-run', quads(body(path), type))).text, /"Triples without a graph/)
        t.match((await writer('POST', '/importer?stop', quads(body(path), type))).text, /#Failed>/)
        const named = await writer('POST', `/importer?name=${inside(path, 'c/')}`, quads(body(path), type))
        t.equal(numberOf(await endOf(named), 'refused'), 0)
        t.match(await textOf(`${path}c/`), '"lost"')
      })
    }
    const refused: [name: string, agent: string, query: string, send: Send, status: number][] = [
      ['by an anonymous client', 'anonymous', '', quads(''), 403],
      ['by a reader', 'reader', '', quads(''), 403],
      ['of malformed N-Quads', 'writer', '', quads('<urn:s> <urn:p> .'), 400],
      ['of a graph without a name', 'writer', '', quads('GRAPH _:g { <urn:s> <urn:p> 1 }', 'application/trig'), 400],
      ['of a relative graph', 'writer', '', quads('<urn:s> <urn:p> <urn:o> <x/> .'), 400],
      ['of more than --max-import', 'writer', '', quads('#'.repeat(3_100_000)), 413],
      [
        'of a small file that expands to a huge one',
        'writer',
        '',
        quads(gzipSync(Buffer.alloc(40_000_000, 0x23))),
        413,
      ],
      ['of broken gzip', 'writer', '', quads(gzipSync('x'.repeat(1000)).subarray(0, 20)), 400],
      ['of an image', 'writer', '?into=x', { fields: { 'Content-Type': 'image/png' }, body: 'x' }, 415],
      ['of an unknown coding', 'writer', '', { fields: { 'Content-Type': 'application/n-quads', 'Content-Encoding': 'br' }, body: 'x' }, 415], // prettier-ignore
      ['of a CSV without a target', 'writer', '', csv('a\n1\n'), 400],
      ['of a CSV to a container elsewhere', 'writer', '?into=https://elsewhere.test/', csv('a\n1\n'), 400],
      ['with a delimiter of two characters', 'writer', `?into=${base}&delimiter=ab`, csv('a\n1\n'), 400],
      ['of a CSV with two possible delimiters', 'writer', `?into=${base}&dry-run`, csv('a,b;c\nx,y;z\n'), 400],
      ['with an unknown encoding', 'writer', `?into=${base}&encoding=klingon`, csv('a\n1\n'), 400],
      ['of a CSV in an unknown charset', 'writer', `?into=${base}`, { fields: { 'Content-Type': 'text/csv;charset=klingon' }, body: 'a\n1\n' }, 415], // prettier-ignore
      ['with a SELECT', 'writer', `?query=${encoded('SELECT * {}')}`, csv('a\n1\n'), 400],
      ['with SERVICE', 'writer', `?query=${encoded('CONSTRUCT { GRAPH <urn:g> { ?s ?p ?o } } WHERE { SERVICE <http://localhost/> { ?s ?p ?o } }')}`, csv('a\n1\n'), 400], // prettier-ignore
      ['with FROM', 'writer', `?query=${encoded('CONSTRUCT { GRAPH <urn:g> { ?s ?p ?o } } FROM <urn:x> WHERE { ?s ?p ?o }')}`, csv('a\n1\n'), 400], // prettier-ignore
      ['with a random name', 'writer', `?query=${encoded('CONSTRUCT { GRAPH ?g { ?s ?p ?o } } WHERE { ?s ?p ?o BIND(UUID() AS ?g) }')}`, csv('a\n1\n'), 400], // prettier-ignore
      ['with a query that makes triples with and without GRAPH', 'writer', `?query=${encoded('CONSTRUCT { ?s <urn:p> ?o . GRAPH <urn:g> { ?s ?p ?o } } WHERE { ?s ?p ?o }')}`, csv('a\n1\n'), 400], // prettier-ignore
      ['without a description', 'writer', '', ttl(turtle('"x"')), 400],
      [
        'of a form without a boundary',
        'writer',
        '',
        { fields: { 'Content-Type': 'multipart/form-data' }, body: 'x' },
        400,
      ],
    ]
    for (const [name, agent, query, send, status] of refused) {
      await rowOfReading(`importer ${name} → ${status}`, async (t) => {
        t.equal((await world.as(agent)('POST', `/importer${query}`, send)).status, status)
      })
    }
    await row('a refused form leaves no file open', async (t) => {
      if (process.platform !== 'linux') return void t.pass('', { skip: 'only Linux has /proc' })
      // The clock of the file system is coarse.
      const since = Date.now()
      await setTimeout(20)
      const send = { fields: { 'Content-Type': 'multipart/form-data' }, body: 'x' }
      t.equal((await writer('POST', `/importer?into=${encoded(base)}`, send)).status, 400)
      t.same(openSources(since), [], 'its file is closed before the answer')
    })

    const NAMES = `PREFIX dct: <http://purl.org/dc/terms/> CONSTRUCT { GRAPH ?g { ?g dct:title ?name ; <urn:of> ?row ; <urn:node> [ <urn:city> ?city ] } }
      WHERE { ?row <#name> ?name OPTIONAL { ?row <#the%20city> ?city } BIND(IRI(CONCAT(STR(?base), "PATH", ENCODE_FOR_URI(?name), "/")) AS ?g) }` // prettier-ignore
    const queryFor = (path: string, query = NAMES): string => encoded(query.replace('PATH', path.slice(1)))
    await row('CSV by a query: a document for each graph, and a second run changes nothing', async (t) => {
      const path = await container()
      const body = 'name,the city\nAnn,Oslo\n"Bo, b","New\nYork"\nCy,\n'
      const started = await writer('POST', `/importer?query=${queryFor(path)}`, csv(body))
      t.equal(started.status, 201)
      const state = await endOf(started)
      t.match(state, /#Done>/)
      t.same(
        ['rows', 'documents', 'written', 'refused', 'problems'].map((one) => numberOf(state, one)),
        [3, 3, 3, 0, 0],
      )
      t.match(state, /linkeddatahub#CSVImport>/)
      const ann = await textOf(`${path}Ann/`)
      t.match(ann, /title> "Ann"/)
      t.match(ann, /<urn:of> <[^>]*\/uploads\/[0-9a-f]{40}#row=2>/)
      t.match(ann, /#id[0-9a-f]{32}> <urn:city> "Oslo"/)
      t.ok((await textOf(`${path}Bo%2C%20b/`)).includes('New\\nYork'))
      const again = await endOf(await writer('POST', `/importer?query=${queryFor(path)}`, csv(body)))
      t.same(
        ['written', 'unchanged'].map((one) => numberOf(again, one)),
        [0, 3],
      )
      t.equal(await versionsOf(`${path}Ann/`), 1)
    })
    await rowOfReading(
      'a query whose rows cannot share an evaluation gives the same result as one query for each row',
      async (t) => {
        const path = await container()
        const counted = `CONSTRUCT { GRAPH ?g { ?g <http://purl.org/dc/terms/title> ?name ; <urn:cells> ?count } } WHERE { { SELECT ?name (COUNT(?cell) AS ?count) WHERE { ?row ?p ?cell ; <#name> ?name } GROUP BY ?name } BIND(IRI(CONCAT(STR(?base), "PATH", ?name, "/")) AS ?g) }` // prettier-ignore
        const state = await endOf(
          await writer('POST', `/importer?query=${queryFor(path, counted)}`, csv('name,x\nA,1\nA,2\nB,\n')),
        )
        t.match(state, /#Done>/)
        t.match(await textOf(`${path}A/`), /<urn:cells> "2"/)
        t.match(await textOf(`${path}B/`), /<urn:cells> "1"/)
      },
    )
    await row('a document may be named by its IRI: its URL is percent-encoded', async (t) => {
      const path = await container()
      const within = `${path}%C3%BC/`
      await writer('PUT', within, ttl('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .'))
      const documentIn = async (query: string): Promise<string> => {
        const asked = `SELECT ?d WHERE { GRAPH ?d { ?s ${query} } FILTER(STRSTARTS(STR(?d), "${inside(within, '')}")) }`
        return (await owner('GET', `/sparql?query=${encoded(asked)}`, accept('text/csv'))).text.trim()
      }
      for (const [i, spelling] of ['ü/', '%c3%bc/', '%C3%BC/'].entries()) {
        const into = encoded(inside(path, spelling))
        const started = await writer('POST', `/importer?into=${into}`, csv(`name\nof spelling ${i}\n`))
        t.equal(started.status, 201, started.text)
        t.match(await endOf(started), new RegExp(`#into> <${inside(within, '')}>`))
        t.match(await documentIn(`<${base}ns#name> "of spelling ${i}"`), /-2\/$/)
      }
      const named = await writer('POST', `/importer?name=${encoded(inside(path, 'ü/é/'))}`, quads('_:b <urn:p> "named" .', 'application/n-triples')) // prettier-ignore
      t.equal(numberOf(await endOf(named), 'written'), 1)
      t.match(await textOf(`${within}%C3%A9/`), new RegExp(`<${inside(within, '%C3%A9/')}#id[0-9a-f]{32}> <urn:p> "named"`)) // prettier-ignore
      const lines = ['Zürich/', 'Z%c3%bcrich/', 'Z%C3%BCrich/'].map((name, i) => `_:b <urn:p> "${i}" <${inside(path, name)}> .\n`) // prettier-ignore
      const bulk = await writer('POST', '/importer', quads(lines.join('')))
      t.same(['documents', 'written', 'refused'].map((one) => numberOf(bulk.text, one)), [1, 1, 0]) // prettier-ignore
      t.match(await textOf(`${path}Z%C3%BCrich/`), new RegExp(`<${inside(path, 'Z%C3%BCrich/')}#id[0-9a-f]{32}> <urn:p> "0" `)) // prettier-ignore
      const query = NAMES.replace('ENCODE_FOR_URI(?name)', '?name')
      const rows = await writer('POST', `/importer?query=${queryFor(path, query)}`, csv('name,the city\nNürnberg,x\n'))
      t.equal(numberOf(await endOf(rows), 'refused'), 0)
      t.match(await textOf(`${path}N%C3%BCrnberg/`), new RegExp(`<${inside(path, 'N%C3%BCrnberg/')}#id[0-9a-f]{32}> <urn:city> "x"`)) // prettier-ignore
    })
    await row('CSV without a query: an item for each row, with datatypes', async (t) => {
      const path = await container()
      const body =
        'Name;n;price;day;url;;Name\nAnn;1;1.5;2026-01-02;http://x.test/;e;d\nBo;x;2;2026-01-03;http://y.test/;;\n;;;;;;;more\n'
      const state = await endOf(await writer('POST', `/importer?into=${base}${path.slice(1)}`, csv(`\ufeff${body}`)))
      t.match(state, /#Done>/)
      t.same(
        ['rows', 'written', 'problems'].map((one) => numberOf(state, one)),
        [3, 2, 3],
      )
      const listed = await owner('GET', `/sparql?query=${encoded(`SELECT ?d ?t WHERE { GRAPH ?d { ?t <${base}ns#Name> "Ann" } }`)}`, accept('text/csv')) // prettier-ignore
      const document = /^([^,\s]+-2\/),/m.exec(listed.text)![1]!
      const ann = await textOf(document)
      for (const part of [
        `ns#n> "1"`,
        `ns#price> "1.5"^^<http://www.w3.org/2001/XMLSchema#decimal>`,
        `ns#day> "2026-01-02"^^<http://www.w3.org/2001/XMLSchema#date>`,
        'ns#url> <http://x.test/>',
        'ns#column-6> "e"',
        'ns#Name-2> "d"',
      ])
        // prettier-ignore
        t.ok(ann.includes(part), part)
    })
    const form = (...parts: readonly (readonly [head: string, text: string])[]): Send => ({
      fields: { 'Content-Type': 'multipart/form-data; boundary=b' },
      body: `${parts.map(([head, text]) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`).join('')}--b--\r\n`,
    })
    const DATA = ['name="file"; filename="t.csv"\r\nContent-Type: text/csv', 'day,x\n1/2/2026,y\n'] as const
    const METADATA = JSON.stringify({ url: 't.csv', 'dc:title': 'T', tableSchema: { columns: [{ name: 'day', titles: 'day', datatype: { base: 'date', format: 'M/d/yyyy' }, propertyUrl: 'dc:date' }, { name: 'x' }] } }) // prettier-ignore
    const parts: [name: string, send: Send, status: number, text: RegExp][] = [
      ['CSV on the Web metadata', form(['name="metadata"', METADATA], DATA), 200, /terms\/date> "2026-01-02"\^\^[^]*dc:title of the table is not used/], // prettier-ignore
      ['metadata with many unused properties', form(['name="metadata"', JSON.stringify({ url: 't.csv', ...Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i}`, 1])) })], DATA), 200, /import#problems> "100"[^]*201 more like these/], // prettier-ignore
      ['the metadata after the file', form(DATA, ['name="metadata"', METADATA]), 200, /terms\/date> "2026-01-02"/],
      ['no metadata', form(DATA), 200, /ns#day> "1\/2\/2026"/],
      ['metadata that is not JSON', form(['name="metadata"', '{'], DATA), 400, /metadata of the CSV cannot be used/],
      ['metadata twice', form(['name="metadata"', METADATA], ['name="metadata"', METADATA], DATA), 400, /one file/],
      ['metadata that is too large', form(['name="metadata"', ' '.repeat(300_000)], DATA), 413, /metadata is larger/],
      ['no file', form(['name="metadata"', METADATA]), 400, /one file/],
      ['no end', { ...form(DATA), body: String(form(DATA).body).slice(0, -8) }, 400, /not closed/],
    ]
    for (const [name, send, status, expected] of parts) {
      await rowOfReading(`importer of a form with ${name} → ${status}`, async (t) => {
        const { status: got, text } = await writer('POST', `/importer?into=${base}&dry-run`, send)
        t.equal(got, status, text)
        t.match(text, expected)
      })
    }
    const latin = Buffer.from('name\nZoë\n', 'latin1')
    const encodings: [name: string, body: Buffer, query: string, charset?: string][] = [
      ['UTF-16 with a byte order mark', Buffer.from('\ufeffname\nZoë\n', 'utf16le'), ''],
      ['windows-1252', latin, '&encoding=windows-1252'],
      ['the charset of its media type (RFC 7111 §5.1)', latin, '', ';charset=ISO-8859-1'],
      ['an encoding that takes precedence over the charset', latin, '&encoding=windows-1252', ';charset=UTF-8'],
      ['ASCII, with characters of UTF-8', Buffer.from('name\nZoë\n'), '', ';charset=US-ASCII'],
      ['CR only', Buffer.from('name\rZoë\r'), ''],
      ['tabs', Buffer.from('name\tx\nZoë\t1\n'), ''],
      ['gzip', gzipSync('name\nZoë\n'), ''],
      ['UTF-16 without a byte order mark', Buffer.from('name\nZoë\n', 'utf16le'), ''],
      ["Excel's own words", Buffer.from('sep=|\r\nname|x\r\nZoë|1\r\n|\r\n'), ''],
    ]
    for (const [name, body, query, charset = ''] of encodings) {
      await rowOfReading(`CSV in ${name}`, async (t) => {
        const send = { fields: { 'Content-Type': `text/csv${charset}` }, body }
        const { status, text } = await writer('POST', `/importer?into=${base}&dry-run${query}`, send)
        t.equal(status, 200)
        t.match(text, /ns#name> "Zoë"/)
      })
    }
    await rowOfReading('CSV whose media type says that it has no header (RFC 4180 §3)', async (t) => {
      const send = { fields: { 'Content-Type': 'text/csv; header=absent' }, body: 'a,1\nb,2\n' }
      const { text } = await writer('POST', `/importer?into=${base}&dry-run`, send)
      t.match(text, /_col\.1> "a"[^]*_col\.2> "1"[^]*_col\.1> "b"/)
      t.notMatch(text, 'has no name')
    })
    const broken: [name: string, body: string | Buffer, reason: RegExp][] = [
      ['no row at all', '', /no header/],
      ['another encoding', Buffer.from('name\nZo\xeb\n', 'latin1'), /encoding/],
      ['a quotation mark that is not closed', `a,b\n"x,1\n${'y,2\n'.repeat(50)}`, /quotation mark is not closed/],
      ['a quotation mark within a cell', 'a,b\nx"y,1\n', /line 2: a cell contains a quotation mark/],
      ['a cell that is too long', `a\n${'x'.repeat(1_200_000)}\n`, /more than 1048576 characters/],
      ['a cell of 100 MB, packed', gzipSync(Buffer.concat([Buffer.from('a\n'), Buffer.alloc(100_000_000, 'x')])), /more than 1048576 characters|larger than 3000000 bytes/], // prettier-ignore
      ['too many columns', `${'a,'.repeat(20_000)}\n`, /more than 16384 columns/],
    ]
    for (const [name, body, reason] of broken) {
      await rowOfReading(`CSV with ${name}: nothing is written, and the reason is said`, async (t) => {
        const path = await container()
        const state = await endOf(await writer('POST', `/importer?into=${base}${path.slice(1)}`, csv(body)))
        t.match(state, /#Failed>/)
        t.match(state, reason)
        t.equal(numberOf(state, 'written'), 0)
      })
    }
    for (const [mediaType, encoding] of [
      ['text/turtle', 'windows-1252'],
      ['application/n-quads', 'utf-8'],
    ] as const) {
      await rowOfReading(
        `${mediaType} that is not UTF-8: it is to be converted, whatever &encoding says`,
        async (t) => {
          const send = { fields: { 'Content-Type': mediaType }, body: Buffer.from('<urn:s> <urn:p> "é" .\n', 'latin1') }
          const text = await endOf(await writer('POST', `/importer?name=${base}latin/&encoding=${encoding}`, send))
          t.match(text, /The source is not utf-8\. Convert it to UTF-8/)
        },
      )
    }
    const bomb = `<urn:s> <urn:p> "o" <${base}bomb/> .\n${' '.repeat(100 * 2 ** 20)}\n`
    await rowOfReading('a small file of N-Quads that expands to a huge one: nothing is written', async (t) => {
      const fields = { 'Content-Type': 'application/n-quads', Prefer: 'respond-async' }
      const state = await endOf(await writer('POST', '/importer', { fields, body: gzipSync(bomb) }))
      t.match(state, /#Failed>/)
      t.match(state, /larger than 3000000 bytes/)
      t.equal(numberOf(state, 'written'), 0)
    })
    await rowOfReading('CSV with 10,000 columns', async (t) => {
      const path = await container()
      const header = Array.from({ length: 10_000 }, (_, i) => `c${i}`).join()
      const state = await endOf(await writer('POST', `/importer?into=${base}${path.slice(1)}`, csv(`${header}\n${'1,'.repeat(9_999)}1\n`))) // prettier-ignore
      t.match(state, /#Done>/)
      t.equal(numberOf(state, 'written'), 1)
    })
    await row('preview: ten rows as N-Quads with the problems, and nothing is written', async (t) => {
      const path = await container()
      const rows = Array.from({ length: 50 }, (_, i) => `n${i},x`).join('\n')
      const { status, text, fields } = await writer(
        'POST',
        `/importer?dry-run&query=${queryFor(path)}`,
        csv(`name,,name\n${rows}`),
      )
      t.equal(status, 200)
      t.match(fields['content-type'], /n-quads/)
      t.equal(numberOf(text, 'documents'), 10)
      t.equal(numberOf(text, 'problems'), 2)
      t.ok(text.includes(`<${base}${path.slice(1)}n9/> .`))
      t.equal((await owner('GET', `${path}n0/`)).status, 404)
    })
    const ACL = 'http://www.w3.org/ns/auth/acl#'
    const LDH = 'https://w3id.org/atomgraph/linkeddatahub#'
    const SD_NAME = 'http://www.w3.org/ns/sparql-service-description#name'
    await row(
      'an import as LinkedDataHub describes it, from a source of this gateway; RDF into one document',
      async (t) => {
        const path = await container()
        await writer('PUT', `${path}data/`, ttl('<#a> <urn:p> "of the source" .'))
        await writer('PUT', `${path}target/`, ttl(turtle('"T"')))
        const described = `[] a <${LDH}RDFImport> ; <${LDH}file> <${inside(path, 'data/')}> ; <${SD_NAME}> <${inside(path, 'target/')}> .`
        t.equal((await world.as('reader')('POST', '/importer', ttl(described))).status, 403)
        const state = await endOf(await writer('POST', '/importer', ttl(described)))
        t.match(state, /#Done>/)
        t.ok((await textOf(`${path}target/`)).includes('"of the source"'))
        t.ok((await textOf(`${path}target/`)).includes('"T"'), 'it adds')
        const forbidden = described.replace(inside(path, 'data/'), `${base}admin/acl/groups/owners/`)
        t.equal((await writer('POST', '/importer', ttl(forbidden))).status, 403)
      },
    )
    const PROV = 'http://www.w3.org/ns/prov#'
    /** The document, once its import's run has been noted in it. */
    const noted = (path: string): Promise<string> =>
      until(async () => {
        const content = await textOf(path)
        return content.includes(`${PROV}endedAtTime`) && content
      })
    await row('a PUT or POST of a document with an import starts it, if the agent may import', async (t) => {
      const path = await container()
      await writer('PUT', `${path}data/`, ttl('<#a> <urn:p> "of the source" .'))
      const described = (target: string, source = 'data/'): Send =>
        ttl(`<#import> a <${LDH}RDFImport> ; <http://purl.org/dc/terms/title> "I" ; <${LDH}file> <${inside(path, source)}> ; <${SD_NAME}> <${inside(path, target)}> .`) // prettier-ignore
      t.equal((await writer('PUT', `${path}import/`, described('by-put/'))).status, 201)
      const content = await noted(`${path}import/`)
      t.match(content, new RegExp(`import/#import> <${PROV}startedAtTime>`))
      t.ok((await textOf(`${path}by-put/`)).includes('"of the source"'))
      t.equal((await writer('POST', `${path}data/`, described('by-post/'))).status, 204)
      await noted(`${path}data/`)
      t.ok((await textOf(`${path}by-post/`)).includes('"of the source"'))
      t.equal((await writer('PUT', `${path}absent/`, described('never/', 'nothing/'))).status, 201)
      const failed = await noted(`${path}absent/`)
      t.match(failed, /#run-[-\w]+> <[^>]*description> "There is no such document/)
      t.notMatch(await noted(`${path}import/`), /#run-/)
      // A blank node in content that a thread reads.
      const many = Array.from({ length: 2_000 }, (_, i) => `<#s${i}> <urn:p> "of a large content" .`).join('\n')
      const unnamed = `[] a <${LDH}RDFImport> ; <${LDH}file> <${inside(path, 'data/')}> ; <${SD_NAME}> <${inside(path, 'by-large/')}> .`
      t.equal((await writer('PUT', `${path}large/`, ttl(`${many}\n${unnamed}`))).status, 201)
      await until(async () => (await owner('GET', `${path}by-large/`)).status !== 404)
      t.ok((await textOf(`${path}by-large/`)).includes('"of the source"'))
      t.equal((await owner('GET', `${path}never/`)).status, 404)
    })
    await row(
      'a write starts the imports that it adds, but not those already in the document; none writes rules',
      async (t) => {
        const path = await container()
        await writer('PUT', `${path}data/`, ttl('<#a> <urn:p> "of the source" .'))
        const described = (name: string, target: string): string =>
          `<#${name}> a <${LDH}RDFImport> ; <${LDH}file> <${inside(path, 'data/')}> ; <${SD_NAME}> <${target}> .\n`
        t.equal((await writer('PUT', `${path}import/`, ttl(described('theirs', inside(path, 'theirs/'))))).status, 201)
        const kept = await noted(`${path}import/`)
        t.equal((await owner('DELETE', `${path}theirs/`)).status, 204)
        const rules = `${base}admin/acl/groups/by-import/`
        const added = described('rules', rules) + described('mine', inside(path, 'mine/'))
        t.equal(
          (await owner('PUT', `${path}import/`, ttl(kept + added.replaceAll('<#', `<${inside(path, 'import/')}#`))))
            .status,
          200,
        )
        for (const name of ['rules', 'mine'])
          await until(async () => (await textOf(`${path}import/`)).includes(`import/#${name}> <${PROV}endedAtTime>`))
        t.match(
          await textOf(`${path}import/`),
          /"An import described in a document can write only to the same application/,
        )
        t.equal((await owner('GET', `${path}mine/`)).status, 200)
        t.equal((await owner('GET', `${path}theirs/`)).status, 404)
        t.equal((await owner('GET', new URL(rules).pathname)).status, 404)
        t.equal((await owner('POST', `${path}import/`, ttl(described('mine', inside(path, 'mine/'))))).status, 204)
      },
    )
    await row('an import whose documents are refused says so where it is described', async (t) => {
      const path = await container()
      await writer('PUT', `${path}data/`, ttl('<#a> <urn:p> "of the source" .'))
      const graph = (name: string): string => `GRAPH <${inside(path, name)}> { ?s ?p ?o }`
      const query = `CONSTRUCT { ${graph('by-query/')} . ${graph('nowhere/a/')} } WHERE { ?s ?p ?o }`
      const described = `<#import> a <${LDH}RDFImport> ; <${LDH}file> <${inside(path, 'data/')}> ; <http://spinrdf.org/spin#query> "${query}" .`
      t.equal((await writer('PUT', `${path}import/`, ttl(described))).status, 201)
      const content = await noted(`${path}import/`)
      t.match(content, /description> "1 of 2 documents were refused\. See <[^>]*\/imports\/[^>]*>\. The first: \w/)
      t.equal((await owner('GET', `${path}by-query/`)).status, 200)
    })
    await row('without Read, an import does not tell which triples a document has', async (t) => {
      const [path, appends] = [world.freshPath(), world.as('stranger')]
      t.equal((await owner('PUT', path, ttl('<urn:s> <urn:secret> "42" .'))).status, 201)
      const rule = `<#this> a <${ACL}Authorization> ; <${ACL}mode> <${ACL}Append> ; <${ACL}agent> <${world.webIdOf('stranger')}> ; <${ACL}accessTo> <${inside(path, '')}>, <${base}importer> .`
      t.equal((await owner('PUT', '/admin/acl/authorizations/appends/', ttl(rule))).status, 201)
      t.equal((await appends('GET', path)).status, 403)
      for (const value of ['41', '42', '42']) {
        const state = await endOf(
          await appends(
            'POST',
            `/importer?name=${inside(path, '')}`,
            quads(`<urn:s> <urn:secret> "${value}" .`, 'application/n-triples'),
          ),
        )
        t.same(['written', 'unchanged'].map((one) => numberOf(state, one)), [1, 0], value) // prettier-ignore
      }
      t.equal((await owner('DELETE', '/admin/acl/authorizations/appends/')).status, 204)
    })
    await row('an import that another agent has described is not started by a write that brings it back', async (t) => {
      const path = await container()
      const described = `<#i> a <${LDH}RDFImport> ; <http://purl.org/dc/terms/title> "I" ; <${LDH}file> <${inside(path, 'data/')}> ; <${SD_NAME}> <${inside(path, 'target/')}> .`
      await owner('PUT', `${path}data/`, ttl('<#a> <urn:p> "of the source" .'))
      const nTriples = (body: string, more: object = {}): Send => ({ body, fields: { 'Content-Type': 'application/n-triples', ...more } }) // prettier-ignore
      const isThere = async (): Promise<boolean> => (await owner('GET', `${path}target/`)).status === 200
      const rows: readonly [what: string, isStale: boolean, condition: string, isStarted: boolean][] = [
        ['a PUT of what is there', false, '', false],
        ['a PUT of an earlier state', true, '', false],
        ['a PUT of an earlier state on any state', true, '*', false],
        ['a PUT of an earlier state that names the present one', true, 'tag', true],
      ]
      for (const [n, [what, isStale, condition, isStarted]] of rows.entries()) {
        const document = `${path}described-${n}/`
        t.equal((await owner('PUT', document, ttl('<> <urn:p> "new" .'))).status, 201)
        t.equal((await writer('PATCH', document, update(`INSERT { ${described} } WHERE {}`))).status, 204)
        const read = await textOf(document)
        if (isStale) t.equal((await writer('PUT', document, ttl('<> <urn:p> "removed" .'))).status, 200)
        const tag = (await owner('GET', document)).fields.etag
        const fields = condition === '' ? {} : { 'If-Match': condition === '*' ? '*' : tag }
        const edited = nTriples(`${read}<${inside(document, '')}> <urn:p> "edited" .\n`, fields)
        t.equal((await owner('PUT', document, edited)).status, 200, what)
        if (isStarted) await until(isThere)
        else if (isStale) t.match(await noted(document), 'an earlier state')
        t.equal(await isThere(), isStarted, what)
      }
      await owner('DELETE', `${path}target/`)
      const document = `${path}described-1/`
      const map = await owner('GET', `${document}?timemap`, accept('application/json'))
      const { versions } = JSON.parse(map.text) as { readonly versions: readonly { readonly version: string }[] }
      const version = `${inside(document, '')}?version=${versions[1]!.version}`
      await writer('PUT', document, ttl('<> <urn:p> "removed" .'))
      const restored = nTriples(await textOf(version), { 'Content-Location': version })
      t.equal((await owner('PUT', document, restored)).status, 200)
      await endOf(await owner('POST', `/importer?into=${inside(path, 'later/')}`, csv('a\n1\n')))
      t.notOk(await isThere(), 'a restored version')
    })
    await row('an import whose access token is revoked ends', async (t) => {
      const accessTokens = TOKENS.of(world.running.gateway)
      const limits = { readOnly: false, name: 'import', expires: world.running.gateway.now() + 3_600_000 }
      const made = await accessTokens.create({ ...limits, admin: `${base}admin/`, agent: world.webIdOf('writer') })
      if (typeof made === 'string') throw new Error(made)
      const path = await container()
      const { fields, body } = csv(`name\n${'x\n'.repeat(5_000)}`)
      const Authorization = `Bearer ${made.text}`
      const started = await world.as('anonymous')('POST', `/importer?into=${encoded(inside(path, ''))}`, { fields: { ...fields, Authorization }, body }) // prettier-ignore
      t.equal(started.status, 201, started.text)
      await accessTokens.revoke(made.token.id)
      const state = await endOf(started)
      t.match(state, /#Failed>/)
      t.match(state, /was revoked/)
      t.equal((await world.as('anonymous')('DELETE', '/importer')).status, 403)
      t.equal((await writer('DELETE', '/importer')).status, 404, 'the import must be named')
    })
    const CERT_KEY = 'http://www.w3.org/ns/auth/cert#key'
    const DELEGATES = 'http://www.w3.org/ns/auth/acl#delegates'
    // prettier-ignore
    const withdrawn: readonly [name: string, agent: string, principal: string | undefined, of: string, pattern: () => string][] = [
      ['whose key is removed from the profile', 'writer', undefined, 'writer', () => `?agent <${CERT_KEY}> ?key`],
      ['whose delegation is removed',           'stranger', 'writer', 'writer', () => `<${world.webIdOf('stranger')}> <${DELEGATES}> ?principal`],
      ['whose delegate has lost its key',       'stranger', 'writer', 'stranger', () => `?agent <${CERT_KEY}> ?key`],
    ]
    for (const [name, agent, principal, of, pattern] of withdrawn) {
      await row(`an import ${name} ends`, async (t) => {
        const path = await container()
        const profileOf = (one: string): string => new URL(world.webIdOf(one)).pathname
        const delegation = `<${world.webIdOf('stranger')}> <${DELEGATES}> <${world.webIdOf('writer')}> .`
        t.equal((await owner('POST', profileOf('writer'), ttl(delegation))).status, 204)
        const profile = await textOf(profileOf(of))
        const { turns, runs } = IMPORTING.of(world.running.gateway)
        // Both places are taken, so that nothing is written before the withdrawal.
        const taken = await Promise.all(
          [1, 2].map((n) => turns.take(undefined, { agent: `urn:${n}`, network: `${n}` })),
        )
        const fields = { 'Content-Type': 'text/csv', ...(principal && { 'On-Behalf-Of': world.webIdOf(principal) }) }
        const sent = { fields, body: 'name\nx\n' }
        const started = await world.as(agent)('POST', `/importer?into=${encoded(inside(path, ''))}`, sent)
        t.equal(started.status, 201, started.text)
        t.equal((await owner('PATCH', profileOf(of), update(`DELETE WHERE { ${pattern()} }`))).status, 204)
        for (const endTurn of taken) if (!('failure' in endTurn)) endTurn()
        await runs.get(started.fields.location!)!.ended
        const state = await textOf(new URL(started.fields.location!).pathname)
        t.match(state, /#Failed>/)
        t.match(state, /The agent is no longer proved/)
        t.equal(numberOf(state, 'written'), 0)
        const restored = { fields: { 'Content-Type': 'application/n-triples' }, body: profile }
        t.equal((await owner('PUT', profileOf(of), restored)).status, 200)
      })
    }
    await row('the owner and agents with Control of its target cancel any import', async (t) => {
      const path = await container()
      const { turns } = IMPORTING.of(world.running.gateway)
      const taken = await Promise.all([1, 2].map((n) => turns.take(undefined, { agent: `urn:${n}`, network: `${n}` })))
      const rule = (mode: string, of: string): string => `<#${mode}> a <${ACL}Authorization> ; <${ACL}mode> <${ACL}${mode}> ; <${ACL}agent> <${world.webIdOf('reader')}> ; <${ACL}accessTo> <${of}> .` // prettier-ignore
      const rules = '/admin/acl/authorizations/cancels/'
      t.equal((await owner('PUT', rules, ttl(rule('Append', `${base}importer`)))).status, 201)
      const begin = async (): Promise<string> =>
        `/importer?import=${encoded((await writer('POST', `/importer?into=${encoded(inside(path, ''))}`, csv('a\n1\n'))).fields.location!)}`
      const url = await begin()
      t.equal((await world.as('reader')('DELETE', url)).status, 404, 'without Control')
      t.equal((await owner('POST', rules, ttl(rule('Control', inside(path, ''))))).status, 204)
      t.equal((await world.as('reader')('GET', url)).status, 404, 'its state is in its document')
      t.equal((await world.as('reader')('DELETE', url)).status, 204)
      t.equal((await owner('DELETE', await begin())).status, 204)
      for (const endTurn of taken) if (!('failure' in endTurn)) endTurn()
      t.equal((await owner('DELETE', rules)).status, 204)
    })
    await row('RDF into a container: documents of some hundred triples', async (t) => {
      const path = await container()
      const body = Array.from({ length: 1200 }, (_, i) => `<urn:s${i}> <urn:p> "${i}" .\n`).join('')
      const sent = { fields: { 'Content-Type': 'application/n-triples' }, body }
      const state = await endOf(await writer('POST', `/importer?into=${base}${path.slice(1)}`, sent))
      t.match(state, /#Done>/)
      t.same(
        ['rows', 'written'].map((one) => numberOf(state, one)),
        [1200, 3],
      )
    })
    await row('blank nodes are blank nodes to constraints, whatever the syntax and the way', async (t) => {
      const SH = 'http://www.w3.org/ns/shacl#'
      const shapes = ['BlankNode', 'IRI'].map(
        (kind) => `<#${kind}> a <${SH}NodeShape> ; <${SH}targetClass> <urn:x:Has${kind}> ; <${SH}property> [ <${SH}path> <urn:x:v> ; <${SH}nodeKind> <${SH}${kind}> ] .`, // prettier-ignore
      )
      t.equal((await owner('PUT', '/admin/ontologies/node-kinds/', ttl(shapes.join('\n')))).status, 201)
      const path = await container()
      const more = Array.from({ length: 600 }, (_, i) => `<urn:s${i}> <urn:p> "${i}" .\n`).join('')
      const [turtle, nTriples] = ['<urn:s> a <CLASS> ; <urn:x:v> [ <urn:x:w> 1 ] .', '_:b <urn:x:w> "1" .\n<urn:s> <urn:x:v> _:b .\n<urn:s> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <CLASS> .\n'] // prettier-ignore
      const jsonLd = '{"@id":"urn:s","@type":"CLASS","urn:x:v":{"urn:x:w":1}}'
      const xml = '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="urn:x:"><r:Description r:about="urn:s"><r:type r:resource="CLASS"/><x:v><r:Description x:w="1"/></x:v></r:Description></r:RDF>' // prettier-ignore
      const graph = inside(path, 'graph/')
      const rows: readonly [name: string, type: string, body: string, query: string][] = [
        ['Turtle to a document', 'text/turtle', turtle, `name=${inside(path, 'NAME-ttl/')}`],
        ['N-Triples to a document', 'application/n-triples', nTriples, `name=${inside(path, 'NAME-nt/')}`],
        ['JSON-LD to a document', 'application/ld+json', jsonLd, `name=${inside(path, 'NAME-json/')}`],
        ['RDF/XML to a document', 'application/rdf+xml', xml, `name=${inside(path, 'NAME-xml/')}`],
        ['N-Quads', 'application/n-quads', nTriples.replaceAll(' .', ` <${graph}NAME/> .`), ''],
        ['Turtle into a container', 'text/turtle', turtle, `into=${inside(path, '')}`],
        ['JSON-LD into a container', 'application/ld+json', jsonLd, `into=${inside(path, '')}`],
        ['a second document of a container', 'application/n-triples', `_:b <urn:p> "1" .\n${more}${nTriples}`, `into=${inside(path, '')}`], // prettier-ignore
        ['Turtle by a query, into a graph', 'text/turtle', turtle, `into=${inside(path, '')}&query=${encoded(`CONSTRUCT { GRAPH <${inside(path, 'NAME-q/')}> { ?s ?p ?o } } WHERE { ?s ?p ?o }`)}`], // prettier-ignore
        ['Turtle by a query, without a graph', 'text/turtle', turtle, `into=${inside(path, '')}&query=${encoded('CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }')}`], // prettier-ignore
      ]
      await owner('PUT', `${path}graph/`, ttl('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .'))
      for (const [name, type, body, query] of rows) {
        for (const [kind, refused] of [['BlankNode', 0], ['IRI', 1]] as const) {
          const named = (text: string): string => text.replaceAll('CLASS', `urn:x:Has${kind}`).replaceAll('NAME', kind)
          const fields = { 'Content-Type': type, Prefer: 'respond-async' }
          const started = await writer('POST', `/importer?${named(query)}`, { fields, body: named(body) })
          t.equal(started.status, 201, `${name}: ${started.text}`)
          const state = await endOf(started)
          t.equal(numberOf(state, 'refused'), refused, `${name}, ${kind}`)
        }
      } // prettier-ignore
      t.equal((await owner('DELETE', '/admin/ontologies/node-kinds/')).status, 204)
    })
    await row('triplegate import: files and folders, a second run, a preview, mistakes', async (t) => {
      const path = await container()
      const folder = join(world.folder, `files-${kind}`)
      mkdirSync(join(folder, 'more'), { recursive: true })
      writeFileSync(join(folder, 'a.csv'), 'name;x\nAnn;1\nBo;2\n')
      writeFileSync(join(folder, 'more/b.nq.gz'), gzipSync(`<urn:s> <urn:p> "b" <${inside(path, 'b/')}> .\n`))
      writeFileSync(join(folder, 'query.rq'), NAMES.replace('PATH', path.slice(1)))
      const run = async (...more: string[]): Promise<{ code: number; out: string; error: string }> => {
        let [out, error] = ['', '']
        const terminal = { out: (text: string | Buffer) => void (out += String(text)), error: (text: string) => void (error += text), waiting: () => undefined, interactive: false, now: Date.now } // prettier-ignore
        const code = await runImportCommand([...more, '--data', world.folder], {}, terminal)
        return { code, out, error }
      }
      writeFileSync(join(folder, 'a.csv-metadata.json'), JSON.stringify({ url: 'a.csv', tableSchema: { columns: [{ name: 'name', propertyUrl: 'urn:x:called' }, { name: 'x' }] } })) // prettier-ignore
      const into = ['--into', `${base}${path.slice(1)}`]
      t.match((await run(join(folder, 'a.csv'), ...into, '--dry-run')).out, /<urn:x:called> "Ann"/)
      const first = await run(folder, ...into)
      t.equal(first.code, 0, first.error)
      t.match(first.out, /a\.csv: done: 2 rows; 2 documents written, 0 unchanged/)
      t.match(first.out, /b\.nq\.gz: done: 1 rows; 1 documents written/)
      t.match((await run(folder, ...into)).out, /a\.csv: done: 2 rows; 0 documents written, 2 unchanged/)
      const query = ['--query', join(folder, 'query.rq')]
      const preview = await run(join(folder, 'a.csv'), ...into, ...query, '--dry-run')
      t.match(preview.out, /title> "Ann"/)
      t.equal((await owner('GET', `${path}Ann/`)).status, 404)
      t.equal((await run(join(folder, 'a.csv'), ...into, ...query)).code, 0)
      t.equal((await owner('GET', `${path}Ann/`)).status, 200)
      const several = join(folder, 'several')
      mkdirSync(several)
      const files = { 'a.csv': 'name\nx\n', 'b.csv': '', 'c.csv': Buffer.from('Zo\xeb\n1\n', 'latin1'), 'd.csv': 'name\nd\n', 'e.nq': '<urn:s> <urn:p> "x" <https://elsewhere.test/x/> .' } // prettier-ignore
      for (const [name, content] of Object.entries(files)) writeFileSync(join(several, name), content)
      const some = await run(several, ...into)
      t.equal(some.code, 3, 'each file has its own outcome')
      t.match(some.out, /a\.csv: done: 1 rows; 1 documents written[^]*d\.csv: done: 1 rows; 1 documents written/)
      t.match(some.error, /b\.csv: The CSV has no header[^]*c\.csv: The source is not utf-8[^]*e\.nq: 1 documents were refused[^]*3 of 5 files were not imported completely:\n.*b\.csv\n.*c\.csv\n.*e\.nq\n/) // prettier-ignore
      writeFileSync(
        join(folder, 'none.nq'),
        `<urn:s> <urn:p> "lost" .\n<urn:s> <urn:p> "x" <${inside(path, 'x/')}> .\n`,
      )
      const lost = await run(join(folder, 'none.nq'), ...into)
      t.equal(lost.code, 3, 'triples without a graph are not dropped silently')
      t.match(lost.error, /^ {2}Triples without a graph are left out/m)
      t.equal((await run(join(folder, 'none.csv'), ...into)).code, 2)
      t.equal((await run(join(folder, 'a.csv'))).code, 2)
      t.not((await run(join(folder, 'query.rq'), ...into)).code, 0)
    })
    await rowOfReading(
      'agents take turns: an import does not wait for all of those that another agent has sent before',
      async (t) => {
        const { turns } = IMPORTING.of(world.running.gateway)
        // Takes the turn of another running import of the writer.
        const endTurn = await turns.take(undefined, { agent: world.webIdOf('writer'), network: '127.0.0.1' })
        if ('failure' in endTurn) throw new Error(endTurn.detail)
        const other = await turns.take(undefined, { agent: 'urn:x', network: 'other' })
        if ('failure' in other) throw new Error(other.detail)
        const path = await container()
        const send = (agent: string, name: string): Promise<Answer> =>
          world.as(agent)('POST', `/importer?into=${base}${path.slice(1)}`, csv(`name\n${name}\n`))
        const sent = [await send('writer', 'a'), await send('writer', 'b'), await send('owner', 'c')]
        for (const { fields } of sent) t.match(await textOf(new URL(fields.location!).pathname), /#Waiting>/)
        const gone = (await send('writer', 'd')).fields.location!
        t.equal((await owner('DELETE', new URL(gone).pathname)).status, 204)
        endTurn()
        const run = IMPORTING.of(world.running.gateway).runs.get(gone)!
        await run.ended
        t.equal(run.progress.state, 'cancelled', 'that of a document which is gone')
        t.equal((await owner('GET', new URL(gone).pathname)).status, 404)
        const ends: string[] = []
        for (const one of sent) ends.push(/endedAtTime> "([^"]+)"/.exec(await endOf(one))![1]!)
        const [a, b, c] = ends.map((end) => Date.parse(end))
        t.ok(a! <= c! && c! <= b!, ends.join(' '))
        other()
      },
    )
    await rowOfReading('a free slot is lent to an import, and reclaimed at the next batch', async (t) => {
      const { turns, runs } = IMPORTING.of(world.running.gateway)
      const endTurn = await turns.take(undefined, { agent: world.webIdOf('writer'), network: '127.0.0.1' })
      if ('failure' in endTurn) throw new Error(endTurn.detail)
      const path = await container()
      const documents = Array.from({ length: 3_000 }, (_, i) => `<urn:s> <urn:p> "${i}" <${inside(path, `${i}/`)}> .\n`)
      const fields = { 'Content-Type': 'application/n-quads', Prefer: 'respond-async' }
      const started = await writer('POST', '/importer', { fields, body: documents.join('') })
      const url = started.fields.location!
      const run = runs.get(url)!
      await until(() => run.progress.written > 0)
      const other = await turns.take(undefined, { agent: 'urn:x', network: 'other' })
      if ('failure' in other) throw new Error(other.detail)
      const { state, written } = run.progress
      t.equal(state, 'waiting')
      t.ok(written < 3_000, `${written} are written`)
      other()
      await run.ended
      t.match(run.progress, { state: 'done', written: 3_000, unchanged: 0, refused: 0 })
      endTurn()
    })
    await row('an endless query is stopped, and the state says so', async (t) => {
      const path = await container()
      const many = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `{ ?row ?${name} ?v${name} }`).join(' ')
      const never = `CONSTRUCT { GRAPH <${inside(path, 'x/')}> { <urn:x> <urn:p> ?va } } WHERE { { SELECT * WHERE { ${many} FILTER(CONCAT(?va, ?vb, ?vc, ?vd, ?ve, ?vf, ?vg) = "x") } } }`
      const cells = Array.from({ length: 60 }, (_, i) => `c${i}`).join()
      const started = await writer('POST', `/importer?query=${encoded(never)}`, csv(`${cells}\n${cells}\n`))
      const url = started.fields.location!
      const listed = await writer('GET', `/importer?import=${encoded(url)}`, accept('application/n-triples'))
      t.match(listed.text, /#(?:Waiting|Running)>/)
      t.equal((await world.as('owner')('GET', `/importer?import=${encoded(url)}`)).status, 404, 'of its agent only')
      t.equal((await world.as('stranger')('DELETE', `/importer?import=${encoded(url)}`)).status, 403)
      t.equal((await writer('DELETE', `/importer?import=${encoded(url)}`)).status, 204)
      t.match(await textOf(new URL(url).pathname), /#Cancelled>/)
    })
  })
})
