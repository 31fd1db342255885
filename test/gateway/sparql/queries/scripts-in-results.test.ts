// Text in a result never runs as a script of the gateway's origin, in a real browser. Browsers run the scripts of XHTML
// elements in any XML, and a store writes some texts into XML as they are.
import t from 'tap'
import { openBrowser } from '../../../support/browser.js'
import { forEachStore, row } from '../../../support/stores.js'
import { makeWorld } from '../../../support/world.js'

const browser = await openBrowser(t)
const SCRIPT = `<script xmlns="http://www.w3.org/1999/xhtml">document.documentElement.setAttribute("taken", "yes")</script>`
const text = JSON.stringify
const LITERAL = `STRDT(${text(SCRIPT)}, <http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral>)`
const ROWS: readonly [name: string, query: string][] = [
  ['a language tag', `SELECT (STRLANG("x", ${text(`en">${SCRIPT}<l a="`)}) AS ?x) {}`],
  ['a literal of XML', `SELECT (${LITERAL} AS ?x) {}`],
  ['a literal of XML in a graph', `CONSTRUCT { <urn:s> <urn:p> ?x } { BIND(${LITERAL} AS ?x) }`],
]

void forEachStore(t, 'scripts in results', async (t, makeStores, kind) => {
  if (!browser) return void t.pass('there is no chromium')
  const world = await makeWorld(t, await makeStores())
  const { page, close } = await browser.visitor(world, 'owner', { javaScriptEnabled: true })
  for (const [name, query] of ROWS) {
    await row(t, kind, name, async (t) => {
      const target = new URLSearchParams({ query, accept: 'text/xml' }).toString()
      const answer = await page.goto(`${world.base}sparql?${target}`)
      t.match(answer?.headers(), { 'content-security-policy': "default-src 'none'; sandbox" })
      t.equal(await page.locator('[taken]').count(), 0)
    })
  }
  await close()
})
