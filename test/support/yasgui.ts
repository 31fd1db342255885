// YASGUI as a client: its published files in a page of another origin, and its results from an endpoint.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'

/** Serves a page with YASGUI, and returns its URL. `files`: script and style sheet, without `.js` and `.css`. */
export async function serveYasgui(t: Test, files: string): Promise<string> {
  const server = createServer(({ url }, response) => {
    if (url === '/yasgui.js') response.setHeader('Content-Type', 'text/javascript').end(readFileSync(`${files}.js`))
    else if (url === '/yasgui.css') response.setHeader('Content-Type', 'text/css').end(readFileSync(`${files}.css`))
    else response.setHeader('Content-Type', 'text/html').end(PAGE)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const PAGE = `<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="/yasgui.css"><script src="/yasgui.js"></script><div id="yasgui"></div>`

/** The values of `v` that its table shows; the status if it shows no table. */
export async function askByYasgui(page: Page, endpoint: string, token: string, text: string): Promise<string | number> {
  // A page remembers the fields of earlier requests.
  await page.reload()
  const headers = token === '' ? {} : { Authorization: `Bearer ${token}` }
  return page.evaluate(`new Promise((done) => {
    const place = document.getElementById('yasgui')
    const requestConfig = { endpoint: ${JSON.stringify(endpoint)}, headers: ${JSON.stringify(headers)} }
    const tab = new Yasgui(place, { requestConfig, persistenceId: null }).getTab()
    const shown = () => [...place.querySelectorAll('.yasr table.dataTable tbody td:nth-child(2)')].map((cell) => cell.innerText.trim()).join(' ')
    tab.getYasqe().setValue(${JSON.stringify(text)})
    tab.getYasqe().on('queryResponse', (_, { status }) => setTimeout(() => done(shown() || status), 100))
    tab.getYasqe().query().catch(() => {})
  })`)
}
