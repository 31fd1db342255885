// The pages in a real browser without scripts: what people do with documents, from start to end.
import t, { type Test } from 'tap'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import { openBrowser, picture, type TestBrowser, type Visitor } from '../../support/browser.js'
import { rowsOf } from '../../support/stores.js'
import { makeWorld, ttl, turtle, type World } from '../../support/world.js'
import { freePort } from '../../support/ports.js'
import { makeIdentityProvider } from '../../support/identity-provider.js'
import { agents } from './agents.js'
import { comfort, declared, granted, languages, nothingLost, titles, versions } from './answers.js'
import { everyPage, firstVisit, hostile } from './every-page.js'
import { byKeyboard, fields, files, operators, start } from './tasks.js'

const CONTAINER = 'a <https://www.w3.org/ns/ldt/document-hierarchy#Container>'
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }

const browser = await openBrowser(t)

void t.test('pages in a browser', { skip: browser ? false : 'there is no chromium' }, async (t) => {
  const [endUser, admin] = await Promise.all([openEmbeddedStore('documents'), openEmbeddedStore('admin')])
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  const provider = await makeIdentityProvider(t, 'http')
  const port = await freePort()
  const oidc = { issuer: provider.issuer, 'client-id': 'gateway', 'client-secret': 'a secret', name: 'test' }
  const flags = [
    ...Object.entries(oidc).flatMap(([name, value]) => [`--oidc-${name}`, value]),
    ...['--history', 'local', '--sign-up', 'everyone', '--management', String(port)],
    ...['--allow-fetch', '127.0.0.1', '--allow-fetch', '::1'],
  ]
  const world = await makeWorld(t, { endUser, admin }, { flags })
  provider.register('gateway', 'a secret', [`${world.base}oauth2/authorize/test`])
  const visitor = await browser!.visitor(world, 'owner')
  await start(t, world, visitor)
  await fill(world)
  await documents(t, world, visitor)
  await twoAtOnce(t, world, browser!, visitor)
  await past(t, world, visitor)
  // Each visitor needs a browser process, so there is one of each kind.
  const stranger = await browser!.visitor(world, 'stranger')
  await rights(t, world, stranger, visitor)
  await queries(t, world, visitor)
  const scripted = await browser!.visitor(world, 'owner', { javaScriptEnabled: true })
  await firstVisit(t, world, scripted)
  await withScripts(t, world, scripted)
  await declared(t, world, scripted)
  await versions(t, world, scripted)
  await languages(t, world, scripted)
  await titles(t, world)
  await nothingLost(t, world, stranger)
  await stranger.close()
  await comfort(t, world, visitor, admin)
  await granted(t, world)
  await fields(t, world, visitor)
  await files(t, world, visitor)
  await byKeyboard(t, world, visitor)
  await agents(t, world, browser!, visitor, provider)
  await hostile(t, world, scripted)
  const management = `http://localhost:${port}/`
  await operators(t, visitor, management)
  await everyPage(t, world, { browser: browser!, owner: scripted }, management)
  t.same(visitor.reports, [], 'no report of the policy')
  const errors = world.log.filter(({ msg }) => msg === 'internal error')
  t.same(errors, [], 'no internal error')
})

async function fill({ as }: World): Promise<void> {
  const put = (path: string, text: string): Promise<unknown> => as('owner')('PUT', path, ttl(text))
  await put('/notes/', `<> ${CONTAINER} ; <http://purl.org/dc/terms/title> "Notes"@en .`)
  for (let i = 1; i <= 52; i++) await put(`/notes/n${i}/`, turtle(`"Note ${i}"`))
}

async function documents(t: Test, world: World, { page }: Visitor): Promise<void> {
  const row = rowsOf(t, 'embedded')
  const at = (path: string): string => world.base + path.slice(1)
  await row('a container lists its children, 50 to a page, in the order that people expect', async (t) => {
    await page.goto(at('/notes/'))
    t.equal(await page.title(), `Notes · ${new URL(world.base).host}`)
    t.equal(await page.locator('tbody a').count(), 50)
    t.equal(await page.locator('tbody a').nth(1).innerText(), 'Note 2')
    await page.getByRole('link', { name: 'Next' }).click()
    t.equal(await page.locator('tbody a').count(), 2)
    await page.getByRole('link', { name: 'Created' }).click()
    t.match(page.url(), /order=created/)
    t.equal(await page.locator('tbody a').first().innerText(), 'Note 52')
  })
  await row('a new item is created by its title, and shown', async (t) => {
    await page.goto(at('/notes/'))
    await page.getByRole('link', { name: 'New document' }).click()
    await page.getByLabel('Title').fill('Käse & Brot')
    await page.getByRole('button', { name: 'Create' }).click()
    t.equal(page.url(), at('/notes/k%C3%A4se-brot/'))
    t.equal(await page.locator('h1').innerText(), 'Käse & Brot')
    await page.goBack()
    t.match(page.url(), /form=new$/, 'the back button leads to the form')
  })
  await row('a name that is taken: everything typed stays', async (t) => {
    await page.goto(at('/notes/?form=new'))
    await page.getByLabel('Title').fill('Again')
    await page.getByLabel('Name in the address').fill('n1')
    await page.getByRole('button', { name: 'Create' }).click()
    const said = await page.getByRole('alert').innerText()
    t.match(said, /this name already/)
    t.notMatch(said, /Someone else/)
    t.equal(await page.getByLabel('Title').inputValue(), 'Again')
  })
  await row('an edit: preview, a syntax error with its line, and 303 to the document', async (t) => {
    await page.goto(at('/notes/n2/'))
    await page.getByRole('link', { name: 'Edit' }).click()
    const area = page.getByLabel('The document as Turtle')
    const text = await area.inputValue()
    await area.fill(`${text}\n<#this> <http://ex.org/p> "x" ;;; nonsense`)
    await page.getByRole('button', { name: 'Save' }).click()
    t.match(await page.locator('#place').innerText(), /nonsense/)
    t.match(await area.inputValue(), /nonsense/)
    await area.fill(text.replace('Note 2', 'Note two'))
    await page.getByRole('button', { name: 'Show the changes' }).click()
    t.equal(await page.locator('.changes ins').innerText(), 'two')
    await page.getByRole('button', { name: 'Save' }).click()
    t.equal(page.url(), at('/notes/n2/'))
    t.equal(await page.locator('h1').innerText(), 'Note two')
  })
  await row('deleting asks first, and leads to the container; the history restores it', async (t) => {
    await page.goto(at('/notes/n3/'))
    await page.getByRole('link', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete it' }).click()
    t.equal(page.url(), at('/notes/'))
    t.equal((await world.as('owner')('GET', '/notes/n3/')).status, 404)
    await page.goto(at('/notes/n3/?timemap'))
    const link = page.getByRole('link', { name: /^Restore the version/ })
    const restore = new URL((await link.getAttribute('href'))!, page.url())
    const sent = { fields: { ...FORM, Origin: world.origin }, body: 'if-match=' }
    t.equal((await world.as('reader')('POST', restore.pathname + restore.search, sent)).status, 403)
    t.equal((await world.as('stranger')('GET', restore.pathname + restore.search)).status, 403)
    t.equal((await world.as('owner')('PUT', restore.pathname + restore.search, sent)).status, 405)
    await link.click()
    await page.getByRole('button', { name: 'Restore it' }).click()
    t.equal(page.url(), at('/notes/n3/'))
    t.equal(await page.locator('h1').innerText(), 'Note 3')
  })
  const rows: readonly (readonly [name: string, fields: Record<string, string>, status: number])[] = [
    ['another site', { 'Sec-Fetch-Site': 'cross-site' }, 403],
    ['another origin', { Origin: 'https://example.org' }, 403],
    ['no browser', {}, 403],
    ['the page of the form', { 'Sec-Fetch-Site': 'same-origin' }, 412],
    ['the page of the form, in an older browser', { Origin: world.origin }, 412],
  ]
  for (const [name, fields, status] of rows) {
    await row(`a form that names a method, from ${name}: ${status}`, async (t) => {
      const body = 'do=save&content=&if-match=%22x%22'
      const got = await world.as('owner')('POST', '/notes/n4/?form=edit', { fields: { ...FORM, ...fields }, body })
      t.equal(got.status, status, got.text)
    })
  }
  await row('a form in another media type is refused', async (t) => {
    const sent = { fields: { 'Content-Type': 'text/plain', Origin: world.origin }, body: 'do=save&content=' }
    t.equal((await world.as('owner')('POST', '/notes/n4/?form=edit', sent)).status, 415)
  })
  await row('a form with more than 2,000 fields: 413, which says what to do', async (t) => {
    const sent = { fields: { ...FORM, Origin: world.origin }, body: `do=preview&fields=${'&value++urn:p+iri=urn:x'.repeat(2000)}` } // prettier-ignore
    for (const form of ['edit', 'new']) {
      const got = await world.as('owner')('POST', `/notes/?form=${form}`, sent)
      t.equal(got.status, 413)
      t.match(got.text, /the rest as Turtle/)
    }
  })
  await row('a form has no effect without Write', async (t) => {
    const sent = { fields: { ...FORM, Origin: world.origin }, body: 'do=save&content=' }
    t.equal((await world.as('reader')('POST', '/notes/n4/?form=delete', sent)).status, 403)
  })
}

async function twoAtOnce(t: Test, world: World, browser: TestBrowser, one: Visitor): Promise<void> {
  await rowsOf(t, 'embedded')('two who edit at once: both see three columns, and nothing is lost', async (t) => {
    const other = await browser.visitor(world, 'writer')
    const url = `${world.base}notes/n5/`
    for (const { page } of [one, other]) await page.goto(`${url}?form=edit`)
    const write = async ({ page }: Visitor, triple: string): Promise<void> => {
      const area = page.locator('textarea').first()
      await area.fill(`${await area.inputValue()}\n<> <http://ex.org/p> ${triple} .`)
      await page.getByRole('button', { name: 'Save' }).first().click()
    }
    await write(other, '"theirs"')
    t.equal(other.page.url(), url)
    await write(one, '"mine"')
    t.equal(await one.page.locator('.columns section').count(), 3)
    await picture(one.page, 'conflict')
    await one.page.getByRole('button', { name: 'Save both' }).click()
    t.equal(one.page.url(), url)
    const { text } = await world.as('owner')('GET', '/notes/n5/')
    t.match(text, 'theirs')
    t.match(text, 'mine')
    await other.close()
  })
}

async function withScripts(t: Test, world: World, { page, reports }: Visitor): Promise<void> {
  await rowsOf(t, 'embedded')('with scripts a query has colours, runs by Ctrl+Enter, and is there again', async (t) => {
    await page.goto(`${world.base}sparql`)
    await page.getByLabel('SPARQL query').fill('ASK { ?s ?p "<b>" }')
    t.same(await page.locator('.editor .keyword').allInnerTexts(), ['ASK'])
    t.equal(await page.locator('.editor .string').innerText(), '"<b>"')
    await page.keyboard.press('Control+Enter')
    await page.getByText('No', { exact: true }).waitFor()
    await page.goto(`${world.base}sparql`)
    await page.getByText('Your earlier queries').click()
    await page.getByRole('button', { name: 'ASK { ?s ?p' }).click()
    t.equal(await page.getByLabel('SPARQL query').inputValue(), 'ASK { ?s ?p "<b>" }')
    await page.getByRole('button', { name: 'Forget' }).click()
    t.equal(await page.getByText('Your earlier queries').count(), 0)
    t.same(reports, [])
  })
}

async function past(t: Test, world: World, { page }: Visitor): Promise<void> {
  const row = rowsOf(t, 'embedded')
  const url = `${world.base}notes/n2/`
  await row('the history lists the versions; two are compared, and swapped', async (t) => {
    await page.goto(url)
    await page.getByRole('link', { name: 'History' }).click()
    t.equal(await page.locator('tbody tr').count(), 2)
    await page.getByRole('button', { name: 'Compare these versions' }).click()
    for (const name of ['version', 'diff']) t.match(new URL(page.url()).searchParams.get(name), /^[0-9a-f]{40}$/)
    t.equal(await page.locator('.changes ins').innerText(), 'two')
    await page.getByRole('link', { name: 'Swap' }).click()
    t.equal(await page.locator('.changes ins').innerText(), '2')
  })
  await row('a version has a banner with the way to the current one', async (t) => {
    await page.goto(`${url}?timemap`)
    await page.locator('tbody tr').last().getByRole('link').first().click()
    t.match(await page.getByRole('status').innerText(), /as it was on/)
    t.equal(await page.locator('h1').innerText(), 'Note 2')
    await page.getByRole('link', { name: 'Current version' }).click()
    t.equal(page.url(), url)
  })
  await row('restoring asks first, and makes a new version', async (t) => {
    await page.goto(`${url}?timemap`)
    await page.getByRole('link', { name: /^Restore the version/ }).click()
    t.equal(await page.locator('.changes ins').innerText(), '2')
    await page.getByRole('button', { name: 'Restore it' }).click()
    t.equal(page.url(), url)
    t.equal(await page.locator('h1').innerText(), 'Note 2')
    await page.goto(`${url}?timemap`)
    t.equal(await page.locator('tbody tr').count(), 3)
    t.match(await page.locator('tbody tr').first().innerText(), /restored/)
  })
}

async function rights(t: Test, world: World, other: Visitor, { page }: Visitor): Promise<void> {
  const row = rowsOf(t, 'embedded')
  const url = `${world.base}notes/n6/`
  await row('a 403 leads to the request for access, which the owner gets', async (t) => {
    await other.page.goto(url)
    await other.page.getByRole('link', { name: 'See your access' }).click()
    await other.page.getByRole('button', { name: 'Ask the owner' }).click()
    t.match(await other.page.locator('main').innerText(), /was sent to the owner/)
  })
  await row('the owner sees the request on the page about access, and refuses it', async (t) => {
    await page.goto(`${world.base}access?this=${url}`)
    t.match(await page.locator('section', { hasText: 'waiting for you' }).innerText(), /stranger[^]*Read/)
    await page.getByRole('button', { name: 'Refuse' }).click()
    t.equal(page.url(), `${world.base}access`)
    t.equal(await page.getByRole('button', { name: 'Refuse' }).count(), 0)
  })
  await row('another request is granted on the account page', async (t) => {
    await other.page.goto(`${world.base}access?this=${world.base}notes/n8/`)
    await other.page.getByRole('button', { name: 'Ask the owner' }).click()
    await page.goto(`${world.base}access`)
    await page.getByRole('button', { name: 'Grant' }).click()
    await other.page.goto(`${world.base}notes/n8/`)
    t.equal(await other.page.locator('h1').innerText(), 'Note 8')
    t.equal((await world.as('stranger')('POST', `/admin/access/request?refuse=${world.base}x/`)).status, 403)
  })
  await row('the owner sees who may do what, asks why, and gives a right', async (t) => {
    await page.goto(url)
    await page.getByRole('link', { name: 'Access' }).click()
    t.match(await page.locator('section').first().innerText(), /owners/)
    await page.getByLabel('WebID of the agent').fill(world.webIdOf('stranger'))
    await page.getByRole('button', { name: 'Check' }).click()
    t.match(await page.getByRole('status').innerText(), /^No/)
    await page.getByLabel('WebID or IRI').fill(world.webIdOf('stranger'))
    await page.getByRole('button', { name: 'Give access' }).click()
    await other.page.goto(url)
    t.equal(await other.page.locator('h1').innerText(), 'Note 6')
  })
  await row('the owner takes it away again', async (t) => {
    await page.goto(`${world.base}access?this=${url}`)
    const given = page.locator('tr', { hasText: world.webIdOf('stranger').replace(world.base, '/') })
    await given.getByRole('link', { name: /^Revoke/ }).click()
    await page.getByRole('button', { name: 'Delete it' }).click()
    await other.page.goto(url)
    t.equal(await other.page.locator('h1').innerText(), 'You may not do this')
  })
  await row('who I am, and how the gateway knows', async (t) => {
    await page.getByRole('link', { name: 'Account' }).click()
    t.match(await page.locator('main').innerText(), new RegExp(`${world.ownerWebId}[^]*client certificate`))
  })
}

async function queries(t: Test, world: World, { page }: Visitor): Promise<void> {
  const row = rowsOf(t, 'embedded')
  const run = async (query: string): Promise<void> => {
    await page.goto(`${world.base}sparql`)
    await page.getByLabel('SPARQL query').fill(query)
    await page.getByRole('button', { name: 'Run' }).click()
  }
  await row('a query has its result as a table, and in other formats', async (t) => {
    await run('SELECT ?g ?t { GRAPH ?g { ?g <http://purl.org/dc/terms/title> ?t } } ORDER BY ?g LIMIT 5')
    t.equal(await page.locator('tbody tr').count(), 5)
    t.match(await page.locator('main').innerText(), /5 rows/)
    const csv = await page.getByRole('link', { name: 'CSV' }).getAttribute('href')
    t.match((await world.as('owner')('GET', csv!.slice(world.origin.length))).fields['content-type'], /^text\/csv/)
  })
  await row('ASK and CONSTRUCT have pages too', async (t) => {
    await run('ASK { GRAPH ?g { ?s ?p ?o } }')
    t.match(await page.locator('main').innerText(), /Yes/)
    await run('CONSTRUCT { ?s a ?o } WHERE { GRAPH ?g { ?s a ?o } } LIMIT 3')
    t.match(await page.locator('main').innerText(), /3 triples/)
  })
  // prettier-ignore
  const pictures: readonly (readonly [name: string, query: string, figure: RegExp | undefined])[] = [
    ['bars of a number',                     'SELECT ?t ?n { VALUES (?t ?n) { ("a" 3) ("b" -4) } }',                   /n by t/],
    ['a line where both are numbers',        'SELECT ?n ?m { VALUES (?n ?m) { (1 2) (2 4) } }',                        /m by n/],
    ['a point on the map',                   'SELECT ?t ?lat ?long { VALUES (?t ?lat ?long) { ("Oslo" 59.9 10.7) } }', /1 place by/],
    ['a point of WKT',                       'SELECT ("POINT(10.7 59.9)"^^<http://www.opengis.net/ont/geosparql#wktLiteral> AS ?w) {}', /1 place by/],
    ['a graph',                              'CONSTRUCT { <urn:a> <urn:p> <urn:b> . <urn:b> <urn:p> <urn:a> } {}',     /2 resources and 2 connections/],
    ['a number that one row lacks: nothing', 'SELECT ?t ?n { VALUES (?t ?n) { ("a" 3) ("b" UNDEF) } }',                undefined],
    ['texts alone: nothing',                 'SELECT ?t { VALUES ?t { "a" "b" } }',                                    undefined],
    ['too many resources: nothing',          `CONSTRUCT { ?x <urn:p> <urn:b> } { VALUES ?x { ${Array.from({ length: 301 }, (_, i) => `<urn:x${i}>`).join(' ')} } }`, undefined],
  ]
  for (const [name, query, figure] of pictures) {
    await row(`a result as a picture: ${name}`, async (t) => {
      const url = `/sparql?query=${encodeURIComponent(query)}`
      const { status, text } = await world.as('owner')('GET', url, { fields: { Accept: 'text/html' } })
      t.equal(status, 200, text)
      if (figure) t.match(text, new RegExp(`<svg class="chart"[^]*<figcaption[^>]*>${figure.source}`))
      else t.notMatch(text, '<svg')
    })
  }
  await row('the second time a result comes from the cache', async (t) => {
    const query = 'SELECT ?g { GRAPH ?g { ?g a <http://e/Nothing> } }'
    await run(query)
    t.match(await page.locator('main').innerText(), /from the triplestore/)
    await run(query)
    t.match(await page.locator('main').innerText(), /from the cache/)
  })
  await row('a mistake is reported with its line, and the query stays', async (t) => {
    await run('SELECT ?s {\n  nonsense\n}')
    t.match(await page.getByRole('alert').innerText(), /line 2, column \d+[^]*nonsense\n +↑/)
    t.match(await page.getByLabel('SPARQL query').inputValue(), /nonsense/)
  })
}
