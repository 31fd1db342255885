// The rows about pages as answers: languages, what was typed into a refused form, prefixes, long lists.
import type { Test } from 'tap'
import { cookieName } from '../../../gateway/identity/cookies.js'
import { isFailure } from '../../../gateway/problem.js'
import type { GraphStore } from '../../../gateway/stores/store.js'
import { fits, picture, violationsOn, type Visitor } from '../../support/browser.js'
import { rowsOf } from '../../support/stores.js'
import { ttl, type World } from '../../support/world.js'

const HTML = { Accept: 'text/html' }
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }

export async function languages(t: Test, world: World, { page }: Visitor): Promise<void> {
  const row = rowsOf(t, 'embedded')
  const get = (path: string, fields: Record<string, string>) => world.as('owner')('GET', path, { fields })
  const german = { ...HTML, 'Accept-Language': 'de-CH, de;q=0.9, en;q=0.8' }
  const paths = ['/notes/n7/', '/notes/', '/notes/n7/?timemap', '/notes/n7/?form=edit', '/access', '/sparql', '/nothing/', '/sparql?query=x'] // prettier-ignore
  for (const path of paths) {
    await row(`the page ${path} in German, and in English`, async (t) => {
      for (const [tag, fields] of [
        ['de', german],
        ['en', HTML],
      ] as const) {
        const got = await get(path, fields)
        t.equal(got.fields['content-language'], tag)
        t.match(got.fields.vary, /^Accept, Accept-Language(?:, Accept-Encoding)?$/)
        t.match(got.text, `<html lang="${tag}">`)
        t.match(got.text, tag === 'de' ? 'Zum Inhalt' : 'Skip to content')
      }
    })
  }
  await row('each language has its entity-tag', async (t) => {
    for (const path of ['/notes/n7/', '/notes/n7/?timemap']) {
      const tags = [(await get(path, german)).fields.etag!, (await get(path, HTML)).fields.etag!]
      t.not(tags[0], tags[1])
      t.equal((await get(path, { ...german, 'If-None-Match': tags[0]! })).status, 304)
      t.equal((await get(path, { ...german, 'If-None-Match': tags[1]! })).status, 200)
    }
  })
  await row('RDF has no language', async (t) => {
    const [one, other] = [await get('/notes/n7/', { 'Accept-Language': 'de' }), await get('/notes/n7/', {})]
    t.equal(one.fields.etag, other.fields.etag)
    t.notMatch(one.fields.vary, /Language/)
    t.equal(one.fields['content-language'], undefined)
  })
  await row('a German page marks English messages of the gateway: axe finds nothing', async (t) => {
    await page.setExtraHTTPHeaders({ 'Accept-Language': 'de' })
    for (const [name, path] of [
      ['container', 'notes/'],
      ['refused', 'nothing/'],
    ] as const) {
      await page.goto(world.base + path)
      await picture(page, `${name}-german`)
      t.same(await violationsOn(page), [])
    }
    t.equal(await page.locator('.notice span[lang=en]').count(), 1)
    await page.setExtraHTTPHeaders({})
  })
}

/** A page shows every triple, and each once: a title is left out below the heading only if it is the whole heading. */
export async function titles(t: Test, world: World): Promise<void> {
  const row = rowsOf(t, 'embedded')
  const long = 'x'.repeat(300)
  const three = '"English title"@en, "Deutscher Titel"@de, "Titre"@fr'
  // prettier-ignore
  const rows: readonly (readonly [name: string, title: string, language: string, heading: string, below: readonly string[]])[] = [
    ['one title',                 '"Only"',                 'en', 'Only',            ['No other statements.']],
    ['three languages',           three,                    'en', 'English title',   ['English title', 'Deutscher Titel', 'Titre']],
    ['three languages in German', three,                    'de', 'Deutscher Titel', ['English title', 'Deutscher Titel', 'Titre']],
    ['an IRI',                    '<http://ex.org/a-name>', 'en', 'titled',          ['http://ex.org/a-name']],
    ['an empty English title',    '" "@en, "Titel"@de',     'en', 'Titel',           ['>Titel<', 'lang="en"']],
    ['a title that is too long',  `"${long}"`,              'en', 'x'.repeat(200),   [long]],
    ['a type that is a text',     '"Only" ; a "a text"',    'en', 'Only',            ['a text']],
  ]
  for (const [name, title, language, heading, below] of rows) {
    await row(`the title of a page: ${name}`, async (t) => {
      t.match(
        (await world.as('owner')('PUT', '/titled/', ttl(`<> <http://purl.org/dc/terms/title> ${title} .`))).status,
        /20[01]/,
      )
      const fields = { ...HTML, 'Accept-Language': language }
      const [, shown, rest = ''] =
        /<h1>([^<]*)<\/h1>([^]*)/.exec((await world.as('owner')('GET', '/titled/', { fields })).text) ?? []
      t.equal(shown, heading)
      for (const text of below) t.ok(rest.includes(text), text)
    })
  }
}

const encoded = (values: Record<string, string>): string => new URLSearchParams(values).toString()

/** @param visitor the stranger */
export async function nothingLost(t: Test, world: World, { page }: Visitor): Promise<void> {
  const row = rowsOf(t, 'embedded')
  const [dataspace] = world.running.dataspaces
  const session = cookieName('session', { application: dataspace!.endUser, dataspace: dataspace! })
  const own = { ...HTML, ...FORM, 'Sec-Fetch-Site': 'same-origin' }
  const body = encoded({ do: 'save', 'if-match': '"x"', content: '<> <http://e/p> "typed <b>" .' })
  // prettier-ignore
  const rows: readonly (readonly [name: string, agent: string, fields: Record<string, string>, body: string, status: number, text: RegExp])[] = [
    ['without the right',           'reader',    own,                                               body, 403, /textarea[^]*typed &lt;b&gt;[^]*Send it again/],
    ['without the certificate that it needs',   'anonymous', own,                                               body, 403, /typed &lt;b&gt;[^]*Log in in a new window/],
    ['whose session has ended',     'anonymous', { ...own, Cookie: `${session}=ended` },      body, 401, /typed &lt;b&gt;[^]*Log in in a new window/],
    ['with too much',               'owner',     own, encoded({ content: 'x'.repeat(3 * 1024 * 1024) }), 413, /still in the form. Go back/],
    ['with more than can be shown', 'reader',    own, encoded({ content: 'x'.repeat(300 * 1024) }), 403, /still in the form. Go back/],
    ['in which nothing was typed',  'reader',    own, encoded({ do: 'save', 'if-match': '"x"' }),        403, /^(?![^]*(?:What you typed|Go back))/],
    ['of another site',             'owner',     { ...own, 'Sec-Fetch-Site': 'cross-site' },        body, 403, /^(?![^]*typed)/],
  ]
  for (const [name, agent, fields, sent, status, text] of rows) {
    await row(`a form ${name}: ${status}`, async (t) => {
      const got = await world.as(agent)('POST', '/notes/n7/?form=edit', { fields, body: sent })
      t.equal(got.status, status)
      t.match(got.text, text)
    })
  }
  const blind = `<#this> a <http://www.w3.org/ns/auth/acl#Authorization> ; <http://www.w3.org/ns/auth/acl#agent> <${world.webIdOf('stranger')}> ;
    <http://www.w3.org/ns/auth/acl#mode> <http://www.w3.org/ns/auth/acl#Write>, <http://www.w3.org/ns/auth/acl#Append> ;
    <http://www.w3.org/ns/auth/acl#accessTo> <${world.base}notes/n13/> .`
  await world.as('owner')('PUT', '/admin/acl/authorizations/blind/', ttl(blind))
  const { text: list } = await world.as('owner')('GET', '/notes/n13/?timemap', { fields: HTML })
  // prettier-ignore
  const unseen: readonly (readonly [form: string, values: Record<string, string>])[] = [
    ['edit',    { do: 'preview', content: '' }],
    ['edit',    { do: 'save', content: '', 'if-match': '"x"' }],
    ['edit',    { do: 'save', content: '<> nonsense' }],
    ['add',     { do: 'preview', content: '<> <http://purl.org/dc/terms/title> "Note 13" .' }],
    ['delete',  { 'if-match': '"x"' }],
    [`restore&of=${/name="version" value="(\w+)"/.exec(list)![1]!}`, { 'if-match': '"x"' }],
    ['new',     { title: 'x', content: 'nonsense' }],
  ]
  for (const [form, values] of unseen) {
    await row(`Write without Read: the form ${form} shows nothing: ${JSON.stringify(values)}`, async (t) => {
      const sent = { fields: own, body: encoded(values) }
      const got = await world.as('stranger')('POST', `/notes/n13/?form=${form}`, sent)
      t.equal(got.status, 403, got.text)
      t.match(got.text, 'Read is required')
      t.notMatch(got.text.replace(/<textarea[^]*?<\/textarea>/g, ''), 'Note 13')
    })
  }
  await world.as('owner')('DELETE', '/admin/acl/authorizations/blind/')
  await row('a right that ends while somebody types: the page shows the text and can send it again', async (t) => {
    const right = `<#this> a <http://www.w3.org/ns/auth/acl#Authorization> ; <http://www.w3.org/ns/auth/acl#agent> <${world.webIdOf('stranger')}> ;
      <http://www.w3.org/ns/auth/acl#mode> <http://www.w3.org/ns/auth/acl#Read>, <http://www.w3.org/ns/auth/acl#Write> ;
      <http://www.w3.org/ns/auth/acl#accessTo> <${world.base}notes/n10/> .`
    const owner = world.as('owner')
    const give = () => owner('PUT', '/admin/acl/authorizations/typing/', ttl(right))
    await give()
    const url = `${world.base}notes/n10/`
    await page.goto(`${url}?form=edit`)
    await page.locator('textarea').fill('<> <http://purl.org/dc/terms/title> "Kept" .')
    await owner('DELETE', '/admin/acl/authorizations/typing/')
    await page.getByRole('button', { name: 'Save' }).click()
    t.equal(await page.locator('h1').innerText(), 'You may not do this')
    await picture(page, 'typed-again')
    t.match(await page.getByLabel('The document as Turtle').inputValue(), 'Kept')
    await give()
    await page.getByRole('button', { name: 'Send it again' }).click()
    t.equal(page.url(), url)
    t.equal(await page.locator('h1').innerText(), 'Kept')
    await page.goto(`${url}?form=edit`)
    await page.locator('textarea').fill('<> nonsense')
    await page.getByRole('button', { name: 'Save' }).click()
    // Wait for the answer: until it has arrived, there is no page to go back from.
    t.match(await page.getByRole('alert').innerText(), /not valid/)
    await page.goBack()
    t.equal(await page.locator('textarea').inputValue(), '<> nonsense', 'the back button leads to what was typed')
    await owner('DELETE', '/admin/acl/authorizations/typing/')
  })
}

export async function comfort(t: Test, world: World, { page }: Visitor, admin: GraphStore): Promise<void> {
  const row = rowsOf(t, 'embedded')
  await row('the prefixes that a person has typed are there at the next edit', async (t) => {
    const area = page.locator('textarea')
    await page.goto(`${world.base}notes/n11/?form=edit`)
    await area.fill(`@prefix my: <http://my.org/ns#> .\nPREFIX dcterms: <http://purl.org/dc/terms/>\n<> dcterms:title "Mine" ; my:own my:Thing .`) // prettier-ignore
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'Edit' }).click()
    const text = await area.inputValue()
    for (const part of ['@prefix my: <http://my.org/ns#>', 'dcterms:title "Mine"', 'my:own my:Thing'])
      t.match(text, part)
  })
  await row('the page of queries names prefixes, and the graphs that the agent may read', async (t) => {
    const owned = await world.as('owner')('GET', '/sparql', { fields: HTML })
    t.match(owned.text, 'PREFIX foaf: &lt;http://xmlns.com/foaf/0.1/&gt;')
    const href = /<a href="([^"]+)">Graphs that you may read/.exec(owned.text)![1]!.replaceAll('&amp;', '&')
    const listed = (name: string) => world.as(name)('GET', href.slice(world.origin.length), { fields: HTML })
    t.match((await listed('owner')).text, '/notes/n7/')
    t.notMatch((await listed('stranger')).text, '/notes/n7/')
  })
  await row('a container lists no child that the agent may not read', async (t) => {
    const right = `<#this> a <http://www.w3.org/ns/auth/acl#Authorization> ; <http://www.w3.org/ns/auth/acl#agent> <${world.webIdOf('stranger')}> ;
      <http://www.w3.org/ns/auth/acl#mode> <http://www.w3.org/ns/auth/acl#Read> ; <http://www.w3.org/ns/auth/acl#accessTo> <${world.base}notes/>, <${world.base}notes/n12/> .`
    await world.as('owner')('PUT', '/admin/acl/authorizations/two/', ttl(right))
    const got = await world.as('stranger')('GET', '/notes/', { fields: HTML })
    // The owner has granted the other request.
    t.same(got.text.match(/\/notes\/n\d+\//g), ['/notes/n8/', '/notes/n12/'])
    t.match(got.text, '1 to 2 of 2')
    await world.as('owner')('DELETE', '/admin/acl/authorizations/two/')
  })
  await row('the page lists the first 100 requests for access, and says so', async (t) => {
    const container = `${world.base}admin/acl/authorization-requests/`
    const lacl = 'https://w3id.org/atomgraph/linkeddatahub/admin/acl#'
    const names = Array.from({ length: 101 }, (_, i) => `${container}${1000 + i}/`)
    const requests = names.map(
      (name) => `GRAPH <${name}> { <${name}#this> a <${lacl}AuthorizationRequest> ; <${lacl}requestAgent> <urn:agent> ;
        <${lacl}requestMode> <http://www.w3.org/ns/auth/acl#Read> ; <${lacl}requestAccessTo> <${world.base}notes/> }`,
    )
    t.notOk(isFailure(await admin.update(`INSERT DATA { ${requests.join('\n')} }`)))
    const { text } = await world.as('owner')('GET', '/access', { fields: HTML })
    t.equal(text.match(/>Refuse</g)?.length, 100)
    t.match(text, 'Only the first 100 are shown')
    await admin.update(names.map((name) => `DROP GRAPH <${name}>`).join(' ; '))
  })
}

/** The form on the page about access: what each choice gives. */
export async function granted(t: Test, world: World): Promise<void> {
  const row = rowsOf(t, 'embedded')
  const owner = world.as('owner')
  const group = `${world.base}admin/acl/groups/friends/#this`
  const stranger = world.webIdOf('stranger')
  await owner('PUT', '/admin/acl/groups/friends/', ttl(`<#this> a <http://xmlns.com/foaf/0.1/Group> ; <http://xmlns.com/foaf/0.1/member> <${stranger}> .`)) // prettier-ignore
  // prettier-ignore
  const rows: readonly (readonly [to: string, who: string, on: string, stranger: readonly number[], anonymous: readonly number[]])[] = [
    ['group',      group,    'below',    [200, 200], [403, 403]],
    ['group',      group,    'document', [200, 403], [403, 403]],
    ['agent',      stranger, 'below',    [200, 200], [403, 403]],
    ['identified', '',       'below',    [200, 200], [403, 403]],
    ['everyone',   '',       'document', [200, 403], [200, 403]],
    ['everyone',   '',       'below',    [200, 200], [200, 200]],
  ]
  for (const [i, [to, who, on, ...statuses]] of rows.entries()) {
    await row(`a right that is given to ${to}, on ${on}`, async (t) => {
      const paths = [`/given${i}/`, `/given${i}/a/`]
      await owner('PUT', paths[0]!, ttl('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .'))
      await owner('PUT', paths[1]!)
      const body = encoded({ to, who, on, mode: 'Read', document: world.origin + paths[0]! })
      const sent = { fields: { ...FORM, Origin: world.origin }, body }
      t.equal((await owner('POST', '/access', sent)).status, 303)
      for (const [at, name] of ['stranger', 'anonymous'].entries()) {
        const got = await Promise.all(paths.map((path) => world.as(name)('GET', path)))
        t.same(
          got.map(({ status }) => status),
          statuses[at],
          name,
        )
      }
    })
  }
}

export async function declared(t: Test, world: World, { page }: Visitor): Promise<void> {
  await rowsOf(t, 'embedded')(
    'with scripts a query gets the declarations of the known prefixes that it uses',
    async (t) => {
      await page.goto(`${world.base}sparql`)
      const area = page.getByLabel('SPARQL query')
      await area.fill('ASK { ?s foaf:name "dct:title" ; my:own ?o }')
      await area.blur()
      t.equal(
        await area.inputValue(),
        'PREFIX foaf: <http://xmlns.com/foaf/0.1/>\nASK { ?s foaf:name "dct:title" ; my:own ?o }',
      )
    },
  )
}

/** Shown while moving from one page to another, since their URLs name versions. */
export async function versions(t: Test, world: World, { page }: Visitor): Promise<void> {
  const row = rowsOf(t, 'embedded')
  const looked = async (t: Test, name: string): Promise<void> => {
    await picture(page, name)
    t.same(await violationsOn(page), [])
    await fits(t, page)
  }
  await row('a difference, and the question before a restore: axe finds nothing, and they fit', async (t) => {
    await page.goto(`${world.base}notes/n2/?timemap`)
    await page.getByRole('button', { name: 'Compare these versions' }).click()
    await page.waitForURL(/diff=/)
    await looked(t, 'difference')
    await page.getByRole('link', { name: 'Restore “From”' }).click()
    await page.waitForURL(/form=restore/)
    await looked(t, 'restore')
  })
}
