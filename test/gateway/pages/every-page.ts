// The rows about every page: a first visit, a hostile document, accessibility, narrow screens.
import type { Test } from 'tap'
import { fits, picture, violationsOn, type TestBrowser, type Visitor } from '../../support/browser.js'
import { rowsOf } from '../../support/stores.js'
import { ttl, type World } from '../../support/world.js'

/** @param visitor a visitor who has not seen any page */
export async function firstVisit(t: Test, world: World, { page, traffic }: Visitor): Promise<void> {
  await rowsOf(t, 'embedded')('a first visit takes three requests and 20 kB at most', async (t) => {
    await page.goto(`${world.base}notes/n7/`)
    const { requests, bytes } = await traffic()
    t.comment(`${requests} requests, ${bytes} bytes`)
    t.ok(requests > 1 && requests <= 3, `${requests} requests`)
    t.ok(bytes > 1000 && bytes <= 20_000, `${bytes} bytes`)
  })
}

export async function hostile(t: Test, world: World, { page, reports }: Visitor): Promise<void> {
  await rowsOf(t, 'embedded')('a hostile document: shown as text, no link that runs code, no report', async (t) => {
    const many = Array.from({ length: 10_000 }, (_, i) => `<#s${i % 500}> <http://ex.org/p${i % 7}> "v${i}" .`).join(
      '\n',
    )
    const text = `<> <http://purl.org/dc/terms/title> "\\u202E</title><script>alert(1)</script>" .
      <#a> <http://ex.org/html> "<img src=x onerror=alert(1)>"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#HTML> ;
        <http://ex.org/link> <javascript:alert(1)>, <data:text/html,x>, <mailto:a@ex.org> ;
        <javascript:alert(2)> "x" ; <http://ex.org/bidi> "a\\u202Eb", """${'long '.repeat(20_000)}""" .
      ${many}`
    const put = await world.as('owner')('PUT', '/hostile/', ttl(text))
    t.equal(put.status, 201, put.text)
    const alerts: string[] = []
    page.on('dialog', (dialog) => {
      alerts.push(dialog.message())
      void dialog.dismiss()
    })
    await page.goto(`${world.base}hostile/`)
    await picture(page, 'hostile')
    for (const scheme of ['javascript', 'data']) t.equal(await page.locator(`a[href^="${scheme}:"]`).count(), 0)
    t.equal(await page.locator('main script, main img').count(), 0)
    t.notMatch(await page.content(), /[\u202a-\u202e]/, 'no character changes the order of the page')
    t.match(await page.locator('.control').allInnerTexts(), ['U+202E'])
    await page.getByRole('link', { name: 'Next part' }).click()
    t.match(page.url(), /part=2/)
    t.same([alerts, reports], [[], []])
  })
}

/** Pages by name, and the visitor to whom each is shown. */
const PAGES: readonly (readonly [name: string, path: string, agent?: string])[] = [
  ['root', '/'],
  ['container', '/notes/'],
  ['document', '/notes/n2/'],
  ['edit-fields', '/books/emma/?form=edit'],
  ['new-fields', '/notes/?form=new&type=http%3A%2F%2Fe%2FBook'],
  ['delete', '/notes/n2/?form=delete'],
  ['history', '/notes/n2/?timemap'],
  ['access', '/access?this=%BASE%notes/n7/'],
  ['access-of-others', '/access?this=%BASE%notes/n2/', 'stranger'],
  ['account', '/access'],
  ['tokens', '/admin/tokens'],
  ['log-in', '/oauth2/login', 'anonymous'],
  ['sign-up', '/admin/sign%20up', 'anonymous'],
  ['query-result', `/sparql?query=${encodeURIComponent('SELECT * { GRAPH ?g { ?s ?p ?o } } LIMIT 20')}`],
  ['query-chart', `/sparql?query=${encodeURIComponent('SELECT ?n (?n * ?n AS ?square) { VALUES ?n { 1 2 3 4 5 } }')}`],
  ['query-graph', `/sparql?query=${encodeURIComponent('CONSTRUCT { ?s a ?o } { GRAPH ?g { ?s a ?o } } LIMIT 12')}`],
  [
    'query-map',
    `/sparql?query=${encodeURIComponent('SELECT ?name ?lat ?long { VALUES (?name ?lat ?long) { ("Oslo" 59.9 10.7) ("Rome" 41.9 12.5) } }')}`,
  ],
  ['query-error', '/sparql?query=SELECT+nothing'],
  ['not-found', '/nothing/'],
  ['refused-identified', '/notes/', 'stranger'],
  ['operators', 'MANAGEMENT', 'anonymous'],
]

interface Visitors {
  readonly browser: TestBrowser
  /** With scripts. */
  readonly owner: Visitor
}

/** Each page is loaded once: axe checks everything in light, and only what colours can change in dark. */
export async function everyPage(
  t: Test,
  world: World,
  { browser, owner }: Visitors,
  management: string,
): Promise<void> {
  const visitors = new Map([['owner', owner]])
  for (const [name, path, agent = 'owner'] of PAGES) {
    await rowsOf(t, 'embedded')(
      `${name}: axe finds nothing, light and dark, and it fits on a narrow screen and at 200 %`,
      async (t) => {
        const visitor = visitors.get(agent) ?? (await browser.visitor(world, agent, { javaScriptEnabled: true }))
        visitors.set(agent, visitor)
        const { page, reports } = visitor
        await page.goto(path === 'MANAGEMENT' ? management : world.base + path.slice(1).replace('%BASE%', world.base))
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          await picture(page, `${name}-${colorScheme}`)
          t.same(await violationsOn(page, colorScheme === 'dark' ? ['color-contrast'] : undefined), [], colorScheme)
        }
        await fits(t, page)
        t.same(reports, [])
      },
    )
  }
  // The answer to a sign-up by e-mail is the same page.
  await rowsOf(t, 'embedded')('the answer to a form: axe finds nothing, and it fits', async (t) => {
    const { page, reports } = visitors.get('stranger')!
    await page.goto(`${world.base}access?this=${world.base}notes/n2/`)
    await page.getByRole('button', { name: 'Ask the owner' }).click()
    await page.getByText('was sent to the owner').waitFor()
    t.same(await violationsOn(page), [])
    await fits(t, page)
    t.same(reports, [])
  })
  for (const visitor of visitors.values()) await visitor.close()
}
