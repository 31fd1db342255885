// The pages in a real browser, without scripts: what people do with documents, from start to end.
import t, { type Test } from 'tap'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import { openBrowser, picture, violationsOn, type TestBrowser, type Visitor } from '../../support/browser.js'
import { rowsOf } from '../../support/stores.js'
import { makeWorld, ttl, turtle, type World } from '../../support/world.js'

const CONTAINER = 'a <https://www.w3.org/ns/ldt/document-hierarchy#Container>'
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }

const browser = await openBrowser(t)

void t.test('pages in a browser', { skip: browser ? false : 'there is no chromium' }, async (t) => {
  const [endUser, admin] = await Promise.all([openEmbeddedStore('documents'), openEmbeddedStore('admin')])
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  const world = await makeWorld(t, { endUser, admin }, { flags: ['--history', 'local'] })
  await fill(world)
  const visitor = await browser!.visitor(world, 'owner')
  await documents(t, world, visitor)
  await twoAtOnce(t, world, browser!, visitor)
  await past(t, world, visitor)
  await rights(t, world, browser!, visitor)
  await queries(t, world, visitor)
  await firstVisit(t, world, browser!)
  await hostile(t, world, browser!)
  await everyPage(t, world, browser!)
  t.same(visitor.reports, [], 'no report of the policy')
  const errors = world.log.filter(({ msg }) => msg === 'internal error')
  t.same(errors, [], 'no internal error')
})

async function fill({ as }: World): Promise<void> {
  const put = (path: string, text: string): Promise<unknown> => as('owner')('PUT', path, ttl(text))
  await put('/notes/', `<> ${CONTAINER} ; <http://purl.org/dc/terms/title> "Notes"@en .`)
  for (let i = 1; i <= 60; i++) await put(`/notes/n${i}/`, turtle(`"Note ${i}"`))
}

async function documents(t: Test, world: World, { page }: Visitor): Promise<void> {
  const row = rowsOf(t, 'embedded')
  const at = (path: string): string => world.base + path.slice(1)
  await row('a container lists its children, 50 to a page, as people sort them', async (t) => {
    await page.goto(at('/notes/'))
    t.equal(await page.title(), `Notes · ${new URL(world.base).host}`)
    t.equal(await page.locator('tbody a').count(), 50)
    t.equal(await page.locator('tbody a').nth(1).innerText(), 'Note 2')
    await page.getByRole('link', { name: 'Next' }).click()
    t.equal(await page.locator('tbody a').count(), 10)
    await page.getByRole('link', { name: 'Created' }).click()
    t.match(page.url(), /order=created/)
    t.equal(await page.locator('tbody a').first().innerText(), 'Note 60')
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
    t.match(await page.getByRole('alert').innerText(), /this name already/)
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
  await row('deleting asks first, and leads to the container', async (t) => {
    await page.goto(at('/notes/n3/'))
    await page.getByRole('link', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete it' }).click()
    t.equal(page.url(), at('/notes/'))
    t.equal((await world.as('owner')('GET', '/notes/n3/')).status, 404)
  })
  const rows: readonly (readonly [name: string, fields: Record<string, string>, status: number])[] = [
    ['another site', { 'Sec-Fetch-Site': 'cross-site' }, 403],
    ['another origin', { Origin: 'https://example.org' }, 403],
    ['no browser', {}, 403],
    ['its own page', { 'Sec-Fetch-Site': 'same-origin' }, 412],
    ['its own page, of an older browser', { Origin: world.origin }, 412],
  ]
  for (const [name, fields, status] of rows) {
    await row(`a form that names a method, from ${name}: ${status}`, async (t) => {
      const body = 'do=save&content=&if-match=%22x%22'
      const got = await world.as('owner')('POST', '/notes/n4/?form=edit', { fields: { ...FORM, ...fields }, body })
      t.equal(got.status, status, got.text)
    })
  }
  await row('a form in another media type is no form', async (t) => {
    const sent = { fields: { 'Content-Type': 'text/plain', Origin: world.origin }, body: 'do=save&content=' }
    t.equal((await world.as('owner')('POST', '/notes/n4/?form=edit', sent)).status, 415)
  })
  await row('nobody without Write gets a form carried out', async (t) => {
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

async function past(t: Test, world: World, { page }: Visitor): Promise<void> {
  const row = rowsOf(t, 'embedded')
  const url = `${world.base}notes/n2/`
  await row('the history lists the versions; two are compared, and swapped', async (t) => {
    await page.goto(url)
    await page.getByRole('link', { name: 'History' }).click()
    t.equal(await page.locator('tbody tr').count(), 2)
    await page.getByRole('button', { name: 'Compare From and To' }).click()
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

async function rights(t: Test, world: World, browser: TestBrowser, { page }: Visitor): Promise<void> {
  const row = rowsOf(t, 'embedded')
  const url = `${world.base}notes/n6/`
  const other = await browser.visitor(world, 'stranger')
  await row('a 403 leads to the request for access, which the owner gets', async (t) => {
    await other.page.goto(url)
    await other.page.getByRole('link', { name: 'See your access' }).click()
    await other.page.getByRole('button', { name: 'Ask the owner' }).click()
    t.match(await other.page.locator('main').innerText(), /waits for the owner/)
  })
  await row('the owner sees who may do what, asks why, and gives a right', async (t) => {
    await page.goto(url)
    await page.getByRole('link', { name: 'Access' }).click()
    t.match(await page.locator('section').innerText(), /owners/)
    await page.getByLabel('WebID of the agent').fill(world.webIdOf('stranger'))
    await page.getByRole('button', { name: 'Tell me' }).click()
    t.match(await page.getByRole('status').innerText(), /^No/)
    await page.getByLabel('WebID or IRI').fill(world.webIdOf('stranger'))
    await page.getByRole('button', { name: 'Give the right' }).click()
    await other.page.goto(url)
    t.equal(await other.page.locator('h1').innerText(), 'Note 6')
  })
  await row('the owner takes it away again', async (t) => {
    await page.goto(`${world.base}access?this=${url}`)
    const given = page.locator('tr', { hasText: world.webIdOf('stranger').replace(world.base, '/') })
    await given.getByRole('link', { name: /^Take away/ }).click()
    await page.getByRole('button', { name: 'Delete it' }).click()
    await other.page.goto(url)
    t.equal(await other.page.locator('h1').innerText(), 'You may not do this')
  })
  await row('who I am, and how the gateway knows', async (t) => {
    await page.getByRole('link', { name: 'Account' }).click()
    t.match(await page.locator('main').innerText(), new RegExp(`${world.ownerWebId}[^]*client certificate`))
  })
  await other.close()
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
  await row('a mistake is reported with its line, and the query stays', async (t) => {
    await run('SELECT ?s {\n  nonsense\n}')
    t.match(await page.getByRole('alert').innerText(), /line/i)
    t.match(await page.getByLabel('SPARQL query').inputValue(), /nonsense/)
  })
}

async function firstVisit(t: Test, world: World, browser: TestBrowser): Promise<void> {
  await rowsOf(t, 'embedded')('a first visit takes three requests and 20 kB at most', async (t) => {
    const { page, traffic, close } = await browser.visitor(world, 'owner', { javaScriptEnabled: true })
    await page.goto(`${world.base}notes/n7/`)
    const { requests, bytes } = await traffic()
    t.comment(`${requests} requests, ${bytes} bytes`)
    t.ok(requests > 1 && requests <= 3, `${requests} requests`)
    t.ok(bytes > 1000 && bytes <= 20_000, `${bytes} bytes`)
    await close()
  })
}

async function hostile(t: Test, world: World, browser: TestBrowser): Promise<void> {
  await rowsOf(t, 'embedded')('a hostile document: shown as text, no link that runs code, no report', async (t) => {
    const many = Array.from({ length: 10_000 }, (_, i) => `<#s${i % 500}> <http://ex.org/p${i % 7}> "v${i}" .`).join(
      '\n',
    )
    const text = `<> <http://purl.org/dc/terms/title> "</title><script>alert(1)</script>" .
      <#a> <http://ex.org/html> "<img src=x onerror=alert(1)>"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#HTML> ;
        <http://ex.org/link> <javascript:alert(1)>, <data:text/html,x>, <mailto:a@ex.org> ;
        <javascript:alert(2)> "x" ; <http://ex.org/bidi> "a\\u202Eb", """${'long '.repeat(20_000)}""" .
      ${many}`
    const put = await world.as('owner')('PUT', '/hostile/', ttl(text))
    t.equal(put.status, 201, put.text)
    const { page, reports, close } = await browser.visitor(world, 'owner', { javaScriptEnabled: true })
    const alerts: string[] = []
    page.on('dialog', (dialog) => {
      alerts.push(dialog.message())
      void dialog.dismiss()
    })
    await page.goto(`${world.base}hostile/`)
    await picture(page, 'hostile')
    for (const scheme of ['javascript', 'data']) t.equal(await page.locator(`a[href^="${scheme}:"]`).count(), 0)
    t.equal(await page.locator('main script, main img').count(), 0)
    t.match(await page.locator('.control').allInnerTexts(), ['U+202E'])
    await page.getByRole('link', { name: 'Next part' }).click()
    t.match(page.url(), /part=2/)
    t.same([alerts, reports], [[], []])
    await close()
  })
}

/** Pages by name, with whom they are shown to. */
const PAGES: readonly (readonly [name: string, path: string, agent?: string])[] = [
  ['root', '/'],
  ['container', '/notes/'],
  ['document', '/notes/n2/'],
  ['edit', '/notes/n2/?form=edit'],
  ['new', '/notes/?form=new'],
  ['delete', '/notes/n2/?form=delete'],
  ['history', '/notes/n2/?timemap'],
  ['access', '/access?this=%BASE%notes/n2/'],
  ['access-of-others', '/access?this=%BASE%notes/n2/', 'stranger'],
  ['account', '/access'],
  ['log-in', '/oauth2/login', 'anonymous'],
  ['sign-up', '/admin/sign%20up', 'anonymous'],
  ['query', '/sparql'],
  ['query-result', '/sparql?query=SELECT+*+%7B+GRAPH+%3Fg+%7B+%3Fs+%3Fp+%3Fo+%7D+%7D+LIMIT+20'],
  ['query-error', '/sparql?query=SELECT+nothing'],
  ['not-found', '/nothing/'],
  ['refused', '/notes/', 'anonymous'],
  ['refused-identified', '/notes/', 'stranger'],
  ['admin', '/admin/'],
]

async function everyPage(t: Test, world: World, browser: TestBrowser): Promise<void> {
  const visitors = new Map<string, Visitor>()
  for (const [name, path, agent = 'owner'] of PAGES) {
    await rowsOf(t, 'embedded')(
      `${name}: axe finds nothing, light and dark, and it fits on a narrow screen`,
      async (t) => {
        const visitor = visitors.get(agent) ?? (await browser.visitor(world, agent, { javaScriptEnabled: true }))
        visitors.set(agent, visitor)
        const { page, reports } = visitor
        await page.setViewportSize({ width: 1180, height: 900 })
        await page.goto(world.base + path.slice(1).replace('%BASE%', world.base))
        for (const colorScheme of ['dark', 'light'] as const) {
          await page.emulateMedia({ colorScheme })
          await picture(page, `${name}-${colorScheme}`)
          t.same(await violationsOn(page), [], colorScheme)
        }
        await page.setViewportSize({ width: 360, height: 700 })
        await picture(page, `${name}-narrow`)
        const beside = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        )
        t.equal(beside, 0, 'no scrolling to the side')
        t.same(reports, [])
      },
    )
  }
  for (const visitor of visitors.values()) await visitor.close()
}
