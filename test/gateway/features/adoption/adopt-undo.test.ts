// triplegate adopt --undo: it takes back what adopt has made, and leaves what others have written since, or in place of
// something that was refused; also with files of 0.4.3, and after interruptions.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { runCommand } from '../../../../gateway/run-command.js'
import type { GraphStore } from '../../../../gateway/stores/store.js'
import { forEachStore, rowsOf } from '../../../support/stores.js'
import { makeWorld, ttl, update, type World } from '../../../support/world.js'

const DCT = 'http://purl.org/dc/terms/'
const XSD = 'http://www.w3.org/2001/XMLSchema#'
/** The gateway refuses it in a document. */
const TOO_LONG = `<urn:s> <urn:p> "${'7'.repeat(5_000)}"^^<${XSD}integer> .\n`
const plain = (value: string): string => `<urn:s> <urn:p> "${value}" .\n`

/** The names of a row: each has its own folder. */
interface Names {
  readonly base: string
  /** Graphs without a slash: `adopt --rename` gives them one. */
  readonly a: string
  readonly b: string
  readonly folder: string
}

interface Undone {
  readonly code: number
  readonly out: string
}

interface Row {
  readonly name: string
  /** By graph, as N-Triples. */
  readonly graphs: (names: Names) => Readonly<Record<string, string>>
  readonly options?: readonly string[]
  /** What others do between adopt and its undo. */
  readonly meanwhile?: (world: World, names: Names, store: GraphStore) => Promise<unknown>
  /** The lines of the file without its head, as they are left. */
  readonly lines?: (lines: readonly Line[]) => readonly unknown[]
  /** Graphs of which not a byte changes in the undo. */
  readonly kept?: (names: Names) => readonly string[]
  /** Parts of the graphs after the undo; undefined: no such graph. */
  readonly after?: (names: Names) => Readonly<Record<string, RegExp | undefined>>
  readonly undone: Undone['code']
  readonly out?: RegExp
}

type Line = Readonly<Record<string, unknown>> & { readonly kind: string }

const put = (world: World, agent: string, graph: string, body: string) =>
  world.as(agent)('PUT', new URL(graph).pathname, ttl(body))
const remove = (world: World, graph: string) => world.as('owner')('DELETE', new URL(graph).pathname)

const two = ({ a, b }: Names) => ({ [a]: plain('a'), [b]: plain('b') })
/** As 0.4.3 wrote it. */
const asBefore = (lines: readonly Line[]): readonly unknown[] =>
  lines.flatMap(({ digest: _, etag: __, ...line }) => {
    if (line.kind === 'refused' || line.kind === 'container') return []
    return [line.kind === 'creating' ? { ...line, kind: 'container' } : line]
  })
const without =
  (...kinds: readonly string[]) =>
  (lines: readonly Line[]): readonly Line[] =>
    lines.filter(({ kind }) => !kinds.includes(kind))

const ODD = ({ a }: Names): string =>
  [
    ...['"a"', `"01"^^<${XSD}integer>`, `"1.50"^^<${XSD}decimal>`, `"NaN"^^<${XSD}double>`, '"x"@EN-gb', '"e\\u0301"'],
    ...['"tab\\t"', `"2026-01-01T00:00:00.100Z"^^<${XSD}dateTime>`, '"y"^^<urn:type>', '_:x', '<urn:o>'],
  ]
    .map((object) => `<urn:s> <urn:p> ${object} .\n`)
    .join('') +
  `_:x <urn:see> _:y .\n<${a}/> <${DCT}modified> "old" .\n<${a}/> <${DCT}title> "own" .
<${a}/> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://www.w3.org/ns/ldt/document-hierarchy#Item> .\n`

const rows: readonly Row[] = [
  {
    name: 'everything, if nobody has written since',
    graphs: (names) => ({ [names.a]: ODD(names), [names.b]: plain('b') }),
    after: ({ a, b, folder }) => ({ [a]: /"own"/, [b]: /"b"/, [`${a}/`]: undefined, [`${b}/`]: undefined, [folder]: undefined }), // prettier-ignore
    undone: 0,
    out: /^Undone: 2 graphs with their old names, old references in 0 graphs, 1 container deleted/m,
  },
  {
    name: 'a document in place of a graph that was refused stays',
    graphs: ({ a, b }) => ({ [a]: plain('a'), [b]: TOO_LONG }),
    meanwhile: (world, { b }) => put(world, 'writer', `${b}/`, '<> <urn:p> "by hand" .'),
    kept: ({ b }) => [b, `${b}/`],
    after: ({ a }) => ({ [a]: /"a"/, [`${a}/`]: undefined }),
    undone: 1,
    out: /^Undone: 1 graph with their old names.*0 containers deleted.\nNot done: 1\..*: it is not empty$/ms,
  },
  {
    name: 'a refused graph that was moved by hand stays',
    graphs: ({ a, b }) => ({ [a]: plain('a'), [b]: `${TOO_LONG}${plain('b')}` }),
    async meanwhile(world, { b }, store) {
      await put(world, 'writer', `${b}/`, plain('b'))
      await store.remove(b)
    },
    kept: ({ b }) => [`${b}/`],
    after: ({ b }) => ({ [b]: undefined }),
    undone: 1,
  },
  {
    name: 'a document that was written over stays',
    graphs: two,
    meanwhile: (world, { a }) => put(world, 'writer', `${a}/`, '<> <urn:p> "by hand" .'),
    kept: ({ a }) => [`${a}/`],
    after: ({ a, b }) => ({ [a]: undefined, [b]: /"b"/, [`${b}/`]: undefined }),
    undone: 1,
    out: /a\/>: it has been changed since, so it stays$/m,
  },
  {
    name: 'a document that was written over stays, with a file of 0.4.3',
    graphs: two,
    meanwhile: (world, { a }) => put(world, 'writer', `${a}/`, '<> <urn:p> "by hand" .'),
    lines: asBefore,
    kept: ({ a }) => [`${a}/`],
    after: ({ a, b }) => ({ [a]: undefined, [b]: /"b"/ }),
    undone: 1,
    out: /a\/>: it has been changed since, so it stays$/m,
  },
  {
    name: 'a document that was deleted and created again stays',
    graphs: two,
    async meanwhile(world, { a }) {
      await remove(world, `${a}/`)
      await put(world, 'writer', `${a}/`, '<> <urn:p> "by hand" .')
    },
    kept: ({ a }) => [`${a}/`],
    after: ({ a }) => ({ [a]: undefined }),
    undone: 1,
  },
  {
    name: 'a deleted document stays deleted',
    graphs: (names) => ({ [names.a]: ODD(names), [names.b]: plain('b') }),
    meanwhile: (world, { a }) => remove(world, `${a}/`),
    after: ({ a, b }) => ({ [a]: undefined, [`${a}/`]: undefined, [b]: /"b"/ }),
    undone: 0,
    out: /^Undone: 1 graph /m,
  },
  {
    name: 'a graph with the old name is not mixed with the document',
    graphs: two,
    meanwhile: (_, { a }, store) => store.replace(a, plain('again')),
    kept: ({ a }) => [a, `${a}/`],
    after: ({ b }) => ({ [b]: /"b"/ }),
    undone: 1,
    out: /a\/>: <\S+a> exists, so both stay$/m,
  },
  {
    name: 'an undo that was interrupted goes on, and leaves what was written in between',
    graphs: two,
    async meanwhile(world, { a, b }, store) {
      await store.remove(`${a}/`)
      await store.replace(a, plain('a'))
      await store.remove(`${b}/`)
      await store.replace(b, plain('b'))
      await put(world, 'writer', `${b}/`, '<> <urn:p> "by hand" .')
    },
    kept: ({ a, b }) => [a, b, `${b}/`],
    after: ({ a }) => ({ [`${a}/`]: undefined }),
    undone: 1,
  },
  {
    name: 'a run that was interrupted and continued, by name the second time',
    graphs: two,
    lines: (lines) => [...lines.filter(({ kind }) => kind === 'name').map((line) => ({ ...line, digest: '0-0' })), ...lines], // prettier-ignore
    after: ({ a, b, folder }) => ({ [a]: /"a"/, [b]: /"b"/, [folder]: undefined }),
    undone: 0,
    out: /^ +2 graphs get their old names$.*^Undone: 2 graphs /ms,
  },
  {
    name: 'a file of 0.4.3',
    graphs: (names) => ({ [names.a]: ODD(names), [names.b]: plain('b') }),
    lines: asBefore,
    after: ({ a, b, folder }) => ({ [a]: /"own"/, [b]: /"b"/, [`${a}/`]: undefined, [folder]: undefined }),
    undone: 0,
    out: /^Undone: 2 graphs with their old names, old references in 0 graphs, 1 container deleted/m,
  },
  {
    name: 'a file of 0.4.3, and a document in place of a graph that was refused',
    graphs: ({ a, b }) => ({ [a]: plain('a'), [b]: TOO_LONG }),
    meanwhile: (world, { b }) => put(world, 'writer', `${b}/`, '<> <urn:p> "by hand" .'),
    lines: asBefore,
    kept: ({ b }) => [b, `${b}/`],
    undone: 1,
  },
  {
    name: 'an empty container that another agent created, as its creation was refused',
    graphs: two,
    lines: (lines) => lines.map((line) => (line.kind === 'container' ? { kind: 'refused', change: { ...line, kind: 'creating', etag: undefined } } : line)), // prettier-ignore
    kept: ({ folder }) => [folder],
    undone: 0,
    out: /0 containers deleted/,
  },
  {
    name: 'a container whose creation was interrupted',
    graphs: two,
    lines: without('container'),
    kept: ({ folder }) => [folder],
    undone: 1,
    out: /: it is unknown who created it, since adopt was interrupted: delete it yourself$/m,
  },
  {
    name: 'a container that was deleted and created again stays',
    graphs: two,
    async meanwhile(world, { a, b, folder }) {
      for (const graph of [`${a}/`, `${b}/`, folder]) await remove(world, graph)
      world.passTime(5_000)
      await put(world, 'writer', folder, '<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .')
    },
    kept: ({ folder }) => [folder],
    undone: 1,
    out: /: it has been changed since, so it stays$/m,
  },
  {
    name: 'a container that was deleted',
    graphs: two,
    async meanwhile(world, { a, b, folder }) {
      for (const graph of [`${a}/`, `${b}/`, folder]) await remove(world, graph)
    },
    after: ({ folder }) => ({ [folder]: undefined }),
    undone: 0,
  },
  {
    name: 'references to what stays, stay',
    graphs: (names) => ({ ...two(names), [`${names.folder}data`]: `<urn:s> <urn:see> <${names.a}> .\n<urn:s> <urn:see> <${names.b}#x> .\n` }), // prettier-ignore
    options: ['--references'],
    meanwhile: (world, { a }) => put(world, 'writer', `${a}/`, '<> <urn:p> "by hand" .'),
    kept: ({ a }) => [`${a}/`],
    after: ({ a, b, folder }) => ({ [`${folder}data`]: new RegExp(`<${a}/>[^]*<${b}#x>|<${b}#x>[^]*<${a}/>`) }),
    undone: 1,
  },
  {
    name: 'references from what stays to what has its old name again',
    graphs: ({ a, b }) => ({ [a]: plain('a'), [b]: `<urn:s> <urn:see> <${a}> .\n` }),
    options: ['--references'],
    meanwhile: (world, { b }) => world.as('writer')('POST', new URL(`${b}/`).pathname, ttl('<> <urn:p> "by hand" .')),
    after: ({ a, b }) => ({ [a]: /"a"/, [`${b}/`]: new RegExp(`<urn:see> <${a}>[^]*"by hand"|"by hand"[^]*<urn:see> <${a}>`) }), // prettier-ignore
    undone: 1,
  },
  {
    name: 'references to a graph that was refused, and to a document in its place',
    graphs: ({ a, b, folder }) => ({ [a]: plain('a'), [b]: TOO_LONG, [`${folder}data`]: `<urn:s> <urn:see> <${b}> .\n` }), // prettier-ignore
    options: ['--references'],
    meanwhile: (world, { b }) => put(world, 'writer', `${b}/`, '<> <urn:p> "by hand" .'),
    kept: ({ b, folder }) => [b, `${b}/`, `${folder}data`],
    undone: 1,
    out: /b\/>: it exists, so references to it stay$/m,
  },
  {
    name: 'references to a graph that was refused',
    graphs: ({ a, b, folder }) => ({ [a]: plain('a'), [b]: TOO_LONG, [`${folder}data`]: `<urn:s> <urn:see> <${b}> .\n` }), // prettier-ignore
    options: ['--references'],
    after: ({ b, folder }) => ({ [`${folder}data`]: new RegExp(`<${b}>`) }),
    undone: 0,
  },
  {
    name: 'references that another agent wrote where the change was refused',
    graphs: ({ a, b, folder }) => ({ [a]: plain('a'), [b]: plain('b'), [`${folder}doc/`]: `${TOO_LONG}<urn:s> <urn:see> <${a}> .\n` }), // prettier-ignore
    options: ['--references'],
    meanwhile: (_, { a, folder }, store) => store.replace(`${folder}doc/`, `<urn:s> <urn:see> <${a}/> .\n`),
    kept: ({ folder }) => [`${folder}doc/`],
    undone: 0,
  },
]

void forEachStore(t, 'the undo of an adoption', async (t, makeStores, kind) => {
  const stores = await makeStores()
  const world = await makeWorld(t, stores)
  writeFileSync(join(world.folder, 'owner.pem'), world.pemOf('owner'))
  const row = rowsOf(t, kind)
  for (const [index, one] of rows.entries()) await row(one.name, (t) => undo(t, one, index, world, stores.endUser))
})

async function undo(t: Test, row: Row, index: number, world: World, store: GraphStore): Promise<void> {
  const { base } = world
  const folder = `${base}f${index}/`
  const names: Names = { base, folder, a: `${folder}a`, b: `${folder}b` }
  const adopt = async (...argv: string[]): Promise<Undone> => {
    let out = ''
    const take = (text: string | Buffer): void => void (out += String(text))
    const terminal = { out: take, error: take, waiting: () => undefined, interactive: false, now: Date.now }
    return { code: await runCommand(['adopt', base, '--data', world.folder, '--yes', ...argv], {}, terminal), out }
  }
  const contentOf = async (graph: string): Promise<string | undefined> => {
    const content = await store.read(graph)
    return content === undefined || String(content) === '' ? undefined : String(content)
  }
  for (const [graph, content] of Object.entries(row.graphs(names))) t.equal(await store.replace(graph, content), undefined, graph) // prettier-ignore
  const options = row.options ?? []
  const done = await adopt('--rename', `${names.a}=${names.a}/`, '--rename', `${names.b}=${names.b}/`, ...options)
  const file = /adopt --undo (\S+)/.exec(done.out)?.[1]
  if (file === undefined) throw new Error(done.out)
  await row.meanwhile?.(world, names, store)
  const [head = '', ...lines] = readFileSync(file, 'utf8').trim().split('\n')
  const left = row.lines?.(lines.map((line) => JSON.parse(line) as Line))
  if (left) writeFileSync(file, [head, ...left.map((line) => JSON.stringify(line)), ''].join('\n'))
  const kept = new Map<string, string | undefined>()
  for (const graph of row.kept?.(names) ?? []) kept.set(graph, await contentOf(graph))
  const undone = await adopt('--undo', file)
  t.match(undone, { code: row.undone, out: row.out ?? /^Undone: /m }, undone.out)
  for (const [graph, content] of kept) {
    t.ok(content, `${graph} existed`)
    t.equal(await contentOf(graph), content, graph)
  }
  for (const [graph, part] of Object.entries(row.after?.(names) ?? {})) {
    const content = await contentOf(graph)
    if (part) t.match(content, part, graph)
    else t.equal(content, undefined, graph)
  }
  // The next row has names of its own, but must not find the rest.
  await world.as('owner')('POST', '/sparql', update(`DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } FILTER(STRSTARTS(STR(?g), "${folder}")) }`)) // prettier-ignore
}
