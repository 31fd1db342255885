// A real browser for tests: Debian's Chromium, if it is installed, with an agent's client certificate.
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core'
import type { Test } from 'tap'
import type { World } from './world.js'

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
/** Pictures of every page, to look at after a change; ignored by Git. */
const PICTURES = '.cache/pictures'

export interface Visitor {
  readonly page: Page
  /** The browser's reports of violations of the page's policy, and other errors. */
  readonly reports: string[]
  /** The bytes and the number of responses since the last call. */
  traffic(): Promise<{ readonly requests: number; readonly bytes: number }>
  close(): Promise<void>
}

export interface TestBrowser {
  /** `name`: an agent of the world. Scripts are off unless requested. */
  visitor(world: World, name: string, options?: BrowserContextOptions): Promise<Visitor>
}

/** Undefined if there is no browser, which never happens in continuous integration. */
export async function openBrowser(t: Test): Promise<TestBrowser | undefined> {
  const executablePath = PATHS.find((path) => existsSync(path))
  if (!executablePath) {
    if (process.env.CI === 'true') throw new Error('Continuous integration needs a browser: install chromium.')
    return undefined
  }
  const browser: Browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu'],
    timeout: 60_000,
  })
  t.teardown(() => browser.close())
  return { visitor: (world, name, options) => visit(browser, world, name, options) }
}

async function visit(
  browser: Browser,
  { origin, pemOf }: World,
  name: string,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  const pem = name === 'anonymous' ? undefined : Buffer.from(pemOf(name))
  const context: BrowserContext = await browser.newContext({
    ignoreHTTPSErrors: true,
    javaScriptEnabled: false,
    viewport: { width: 1180, height: 1000 },
    ...(pem && { clientCertificates: [{ origin, cert: pem, key: pem }] }),
    ...options,
  })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const reports: string[] = []
  page.on('console', (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) reports.push(message.text())
  })
  page.on('pageerror', (error) => reports.push(error.message))
  let sizes: Promise<number>[] = []
  page.on('requestfinished', (request) => {
    sizes.push(
      request.sizes().then(
        ({ responseBodySize }) => responseBodySize,
        () => 0,
      ),
    )
  })
  return {
    page,
    reports,
    async traffic() {
      const all = await Promise.all(sizes)
      sizes = []
      return { requests: all.length, bytes: all.reduce((sum, size) => sum + size, 0) }
    },
    close: () => context.close(),
  }
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** The violations of WCAG 2.2 AA that axe finds, or of some rules; the page needs scripts. */
export async function violationsOn(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (await page.evaluate('typeof axe === "undefined"')) await page.evaluate(AXE)
  const runOnly = JSON.stringify(rules ? { type: 'rule', values: rules } : { type: 'tag', values: WCAG })
  const found = await page.evaluate(
    `axe.run({ runOnly: ${runOnly}, resultTypes: ['violations'], preload: false, iframes: false }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 200) + ' ' + failureSummary)))`,
  )
  return found as string[]
}

/** The size of a window of 1180 CSS pixels at 200 %, and of a narrow screen. */
const NARROW = [590, 360]

/** Checks that nothing makes the page wider than the window, and that a narrow screen cuts no column of a table. */
export async function fits(t: Test, page: Page): Promise<void> {
  for (const width of NARROW) {
    await page.setViewportSize({ width, height: 700 })
    const beside = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    t.equal(beside, 0, `no scrolling to the side at ${width}`)
    const cut = await page.evaluate(
      `[...document.querySelectorAll('table, pre')].filter((one) => one.parentElement.scrollWidth > one.parentElement.clientWidth + 1 || one.scrollWidth > one.clientWidth + 1).map((one) => one.outerHTML.slice(0, 200))`,
    )
    t.same(cut, [], `no table is cut at ${width}`)
  }
  await page.setViewportSize({ width: 1180, height: 1000 })
}

/** The content of the window. */
export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(PICTURES, { recursive: true })
  await page.screenshot({ path: `${PICTURES}/${name}.png` })
}
