// The list of a container's children on its page: its order, its pages, and that it has exactly the children that its
// reader may read.
import t, { type Test } from 'tap'
import type { GraphStore } from '../../../gateway/stores/store.js'
import type { Answer } from '../../support/client.js'
import { cachedRowsOf, forEachStore, rowsOf } from '../../support/stores.js'
import { accept, makeWorld, ttl, type World } from '../../support/world.js'

const PREFIXES = `PREFIX dct: <http://purl.org/dc/terms/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX acl: <http://www.w3.org/ns/auth/acl#>
PREFIX sioc: <http://rdfs.org/sioc/ns#> PREFIX dh: <https://www.w3.org/ns/ldt/document-hierarchy#> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> PREFIX foaf: <http://xmlns.com/foaf/0.1/>`
const RULES = '/admin/acl/authorizations/'

/** A child: the last segment of its name, and its statements about itself. */
type Children = Readonly<Record<string, string>>

const NAMED: Children = {
  ten: 'dct:title "Note 10" ; dct:created "2026-01-03T00:00:00Z"^^xsd:dateTime',
  two: 'dct:title "note 2" ; dct:created "2026-01-01T00:00:00Z"^^xsd:dateTime ; dct:modified "2026-02-01T00:00:00Z"^^xsd:dateTime',
  both: 'dct:title "Notiz 1"@de , "Note 1"@en ; rdfs:label "A"',
  label: 'rdfs:label "Note 3"',
  'address-7': 'dct:created "2026-01-02T00:00:00Z"^^xsd:dateTime',
  'blank-8': 'dct:title ""',
  white: 'dct:title " \\n" ; rdfs:label "" , "Note 5"@fr',
  iri: 'dct:title <http://ex.org/Note> ; rdfs:label "Note 6"',
  zeros: `dct:title "Note ${'0'.repeat(50)}4"`,
}

async function load(store: GraphStore, container: string, children: Children): Promise<void> {
  const graph = ([name, about]: [string, string]): string => {
    const iri = `<${container}${name}/>`
    return `GRAPH ${iri} { ${iri} sioc:has_container <${container}> ; a dh:Item ${about === '' ? '' : `; ${about}`} }`
  }
  const parts = Object.entries(children).map(graph).join('\n')
  const failed = await store.update(`${PREFIXES} INSERT DATA { ${parts} }`)
  if (failed) throw new Error(failed.detail)
}

/** The last segments of the names, in their order. */
const listed = ({ text }: Answer): string[] =>
  [...text.matchAll(/<td><a href="[^"]*?([^/"]+)\/"/g)].map(([, name]) => decodeURIComponent(name!))
const range = ({ text }: Answer): string | undefined => /aria-label="Pages"><span>([^<]*)/.exec(text)?.[1]
const links = ({ text }: Answer): string[] => [...text.matchAll(/<li><a href="([^"]*page=\d+)"/g)].map(([, to]) => to!.replace('&amp;', '&')) // prettier-ignore

interface Here {
  readonly world: World
  readonly store: GraphStore
}

const page = ({ world }: Here, path: string, agent = 'owner'): Promise<Answer> =>
  world.as(agent)('GET', path, accept('text/html'))

const container = async ({ world }: Here): Promise<string> => {
  const path = world.freshPath()
  await world.as('owner')('PUT', path, ttl(`${PREFIXES} <> a dh:Container ; dct:title "C" .`))
  return path
}

const rule = ({ world }: Here, name: string, targets: string, subject?: string): Promise<Answer> =>
  world.as('owner')('PUT', `${RULES}${name}/`, ttl(`${PREFIXES} <#this> a acl:Authorization ; acl:mode acl:Read ; ${subject ?? `acl:agent <${world.webIdOf('stranger')}>`} ; ${targets} .`)) // prettier-ignore

void forEachStore(t, "a container's children", async (t, makeStores, kind) => {
  const stores = await makeStores()
  const asked: string[] = []
  const endUser: GraphStore = {
    ...stores.endUser,
    query(sparql, ...given) {
      asked.push(sparql)
      return stores.endUser.query(sparql, ...given)
    },
  }
  const world = await makeWorld(t, { ...stores, endUser })
  const here = { world, store: stores.endUser }
  const row = rowsOf(t, kind)
  await row('orders', (t) => orders(t, here))
  await row('parts of a long list, and a count that ends', (t) => parts(t, here))
  await row('what each right shows', (t) => rights(t, here))
  await row('rights to more documents than a condition can name', (t) => manyRights(t, here))
  await row('the entity-tag follows what is shown', (t) => tags(t, here))
  await cachedRowsOf(t, kind)('many clients at once cost the store one question', (t) => together(t, here, asked))
})

async function orders(t: Test, here: Here): Promise<void> {
  const path = await container(here)
  await load(here.store, here.world.origin + path, NAMED)
  const rows: readonly (readonly [query: string, wanted: readonly string[]])[] = [
    ['', ['address-7', 'blank-8', 'both', 'two', 'label', 'zeros', 'white', 'iri', 'ten']],
    ['?order=created', ['ten', 'address-7', 'two']],
    ['?order=modified', ['two', 'ten', 'address-7']],
  ]
  for (const [query, wanted] of rows) {
    const found = listed(await page(here, path + query))
    t.same(found.slice(0, wanted.length), wanted, query || 'by name: numbers by value, whatever the case')
    t.same(found.toSorted(), Object.keys(NAMED).toSorted(), 'each once')
  }
  const found = await page(here, path)
  const names = ({ text }: Answer): string[] =>
    [...text.matchAll(/<td><a[^>]*><bdi>([^<]*)</g)].map(([, name]) => name!)
  const others = ['note 2', 'Note 3', `Note ${'0'.repeat(50)}4`, 'Note 5', 'Note 6', 'Note 10']
  t.same(names(found), ['address-7', 'blank-8', 'Note 1', ...others])
  const german = { fields: { Accept: 'text/html', 'Accept-Language': 'de' } }
  const inGerman = names(await here.world.as('owner')('GET', path, german))
  t.same(inGerman, ['address-7', 'blank-8', ...others, 'Notiz 1'], 'the title in the language of the page')
  t.match(found.text, /2026-01-03/)
}

async function parts(t: Test, here: Here): Promise<void> {
  const path = await container(here)
  const many = Object.fromEntries(Array.from({ length: 1075 }, (_, i) => [`n${i}`, `dct:title "Document ${i}"`]))
  await load(here.store, here.world.origin + path, many)
  // prettier-ignore
  const rows: readonly (readonly [number, string, string, readonly string[]])[] = [
    [1,       '1 to 50 of more than 1,000',      'n0',    ['?order=name&page=2']],
    [20,      '951 to 1,000 of more than 1,000', 'n950',  ['?order=name&page=1', '?order=name&page=19', '?order=name&page=21']],
    [21,      '1,001 to 1,050 of 1,075',         'n1000', ['?order=name&page=1', '?order=name&page=20', '?order=name&page=22']],
    [22,      '1,051 to 1,075 of 1,075',         'n1050', ['?order=name&page=1', '?order=name&page=21']],
    [23,      '1,051 to 1,075 of 1,075',         'n1050', ['?order=name&page=1', '?order=name&page=21']],
    [999_999, '951 to 1,000 of more than 1,000', 'n950',  ['?order=name&page=1', '?order=name&page=19', '?order=name&page=21']],
  ]
  for (const [number, wanted, first, to] of rows) {
    const found = await page(here, `${path}?page=${number}`)
    t.equal(found.status, 200)
    t.equal(range(found), wanted, `page ${number}`)
    t.equal(listed(found)[0], first)
    t.same(links(found), to)
  }
}

async function rights(t: Test, here: Here): Promise<void> {
  const { world, store } = here
  const path = await container(here)
  const own = `acl:owner <${world.webIdOf('stranger')}>`
  await load(store, world.origin + path, { a: '', b: 'a <urn:Shown>', c: own, d: 'a <urn:Hidden>' })
  const at = (name: string): string => `<${world.origin}${path}${name}>`
  // prettier-ignore
  const rows: readonly (readonly [name: string, targets: string, wanted: readonly string[]])[] = [
    ['the container alone, and what the agent owns', '',                              ['c']],
    ['a name',                                       `acl:accessTo ${at('a/')}`,      ['a', 'c']],
    ['a class',                                      'acl:accessToClass <urn:Shown>', ['b', 'c']],
    ['all items',                                    'acl:accessToClass dh:Item',     ['a', 'b', 'c', 'd']],
    ['the container above',                          `acl:default ${at('')}`,         ['a', 'b', 'c', 'd']],
    ['a child as container',                         `acl:default ${at('a/')}`,       ['c']],
  ]
  await rule(here, 'children-container', `acl:accessTo ${at('')}`)
  for (const [name, targets, wanted] of rows) {
    if (targets !== '') await rule(here, 'children', targets)
    const found = await page(here, path, 'stranger')
    t.same(listed(found), wanted, name)
    for (const child of ['a', 'b', 'c', 'd']) {
      const { status } = await world.as('stranger')('GET', `${path}${child}/`)
      t.equal(status === 200, wanted.includes(child), `${name}: as a GET of ${child}`)
    }
  }
  t.equal((await page(here, path, 'anonymous')).status, 403)
  for (const name of ['children', 'children-container']) await world.as('owner')('DELETE', `${RULES}${name}/`)
}

async function manyRights(t: Test, here: Here): Promise<void> {
  const { world, store } = here
  const path = await container(here)
  const many = Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`n${i}`, `dct:title "Document ${i}"`]))
  await load(store, world.origin + path, many)
  const iri = (name: string): string => `<${world.origin}${path}${name}>`
  const odd = Object.keys(many).filter((_, i) => i % 2 === 1)
  const elsewhere = Array.from({ length: 200 }, (_, i) => `<${world.base}elsewhere/${i}/>`)
  await rule(here, 'children', `acl:accessTo ${[iri(''), ...elsewhere, ...odd.slice(0, 3).map((name) => iri(`${name}/`))].join(', ')}`) // prettier-ignore
  const few = await page(here, path, 'stranger')
  t.same([listed(few), range(few)], [['n1', 'n3', 'n5'], '1 to 3 of 3'], 'names elsewhere say nothing of these')
  await rule(here, 'children', `acl:accessTo ${[iri(''), ...odd.map((name) => iri(`${name}/`))].join(', ')}`)
  const first = await page(here, path, 'stranger')
  t.same([listed(first), range(first)], [odd.slice(0, 50), '1 to 50 of 125'])
  const hidden = Object.fromEntries(Array.from({ length: 2100 }, (_, i) => [`hidden-${i}`, 'dct:title "A"']))
  await load(store, world.origin + path, hidden)
  await world.as('owner')('PUT', world.freshPath())
  t.equal((await page(here, path, 'stranger')).text, first.text, 'whatever there is beside these')
  const last = await page(here, `${path}?page=3`, 'stranger')
  t.same([listed(last), range(last)], [odd.slice(100), '101 to 125 of 125'])
  await world.as('owner')('DELETE', `${RULES}children/`)
}

async function tags(t: Test, here: Here): Promise<void> {
  const { world } = here
  const owner = world.as('owner')
  const path = await container(here)
  const iri = world.origin + path
  await rule(here, 'children', `acl:accessTo <${iri}>, <${iri}a/>`)
  await owner('PUT', `${path}a/`, ttl(`${PREFIXES} <> dct:title "A" .`))
  let before = await page(here, path, 'stranger')
  // prettier-ignore
  const rows: readonly (readonly [name: string, act: () => Promise<unknown>, changes: boolean])[] = [
    ['nothing',                              () => Promise.resolve(),                                             false],
    ['a child that the agent may not read',  () => owner('PUT', `${path}b/`),                                     false],
    ['another document',                     () => owner('PUT', world.freshPath()),                               false],
    ['a child is renamed',                   () => owner('PUT', `${path}a/`, ttl(`${PREFIXES} <> dct:title "Z" .`)), true],
    ['a right is granted',                   () => rule(here, 'more', `acl:accessTo <${iri}b/>`),                 true],
    ['a right is revoked',                   () => owner('DELETE', `${RULES}more/`),                              true],
    ['a child is deleted',                   () => owner('DELETE', `${path}a/`),                                  true],
    ['a child is created',                   () => owner('PUT', `${path}a/`, ttl(`${PREFIXES} <> dct:title "A" .`)), true],
  ]
  for (const [name, act, changes] of rows) {
    await act()
    const send = { fields: { Accept: 'text/html', 'If-None-Match': before.fields.etag! } }
    const after = await world.as('stranger')('GET', path, send)
    t.equal(after.status, changes ? 200 : 304, name)
    if (changes) before = after
  }
  await owner('DELETE', `${RULES}children/`)
}

async function together(t: Test, here: Here, asked: readonly string[]): Promise<void> {
  const { world, store } = here
  const path = await container(here)
  await rule(here, 'everybody', `acl:accessTo <${world.origin}${path}> ; acl:default <${world.origin}${path}>`, 'acl:agentClass foaf:Agent') // prettier-ignore
  await load(store, world.origin + path, { a: 'dct:title "A"', b: 'dct:title "B"' })
  const before = asked.length
  const found = await Promise.all(Array.from({ length: 32 }, () => page(here, path, 'anonymous')))
  t.same([...new Set(found.map(({ status, fields }) => `${status} ${fields.etag}`))].length, 1)
  t.equal(asked.slice(before).filter((query) => query.includes('?key')).length, 1)
}
