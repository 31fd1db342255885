// The rows about agents: somebody signs up and comes back with the certificate, somebody logs in at a provider, and
// tokens.
import { readFileSync } from 'node:fs'
import type { Test } from 'tap'
import { LOGIN_LINKS } from '../../../gateway/identity/login-links.js'
import { picture, type TestBrowser, type Visitor } from '../../support/browser.js'
import type { IdentityProvider } from '../../support/identity-provider.js'
import { rowsOf } from '../../support/stores.js'
import type { World } from '../../support/world.js'

const PASSWORD = 'correct horse'

export async function agents(
  t: Test,
  world: World,
  browser: TestBrowser,
  owner: Visitor,
  provider: IdentityProvider,
): Promise<void> {
  const row = rowsOf(t, 'embedded')
  await row('somebody signs up: an error keeps what was typed, and the certificate works', async (t) => {
    const { page, close } = await browser.visitor(world, 'anonymous')
    await page.goto(`${world.base}admin/sign%20up`)
    await page.getByLabel('Given name').fill('Ada')
    await page.getByLabel('Family name').fill('Lovelace')
    await page.getByLabel('E-mail').fill('ada@example.org')
    await page.getByLabel('Country').selectOption('Iceland')
    await page.getByLabel('Password for').fill('short')
    await page.getByLabel('Repeat the password').fill('short')
    await page.getByRole('button', { name: 'Sign up' }).click()
    t.match(await page.getByRole('alert').innerText(), /fewer than 6 characters/)
    t.match(await page.locator('#password-errors').innerText(), /fewer than 6/)
    t.same(
      [await page.getByLabel('Given name').inputValue(), await page.getByLabel('E-mail').inputValue()],
      ['Ada', 'ada@example.org'],
    )
    t.match(await page.getByLabel('Country').inputValue(), /Iceland/)
    t.notMatch(await page.content(), 'short"', 'no page holds a password')
    await picture(page, 'sign-up-refused')
    await page.getByLabel('Password for').fill(PASSWORD)
    await page.getByLabel('Repeat the password').fill(PASSWORD)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Sign up' }).click(),
    ])
    const pfx = readFileSync(await download.path())
    await close()
    const ada = await browser.visitor(world, 'anonymous', {
      clientCertificates: [{ origin: world.origin, pfx, passphrase: PASSWORD }],
    })
    await ada.page.goto(`${world.base}access`)
    t.match(await ada.page.locator('main').innerText(), /Name\s+Ada Lovelace[^]*acl\/agents\/[^]*client certificate/)
    await ada.page.goto(`${world.base}notes/n9/`)
    t.equal(await ada.page.locator('h1').innerText(), 'You may not do this')
    await ada.close()
  })
  await row('somebody logs in at a provider, comes back to the page, and logs out', async (t) => {
    provider.people.set('bob', { name: 'Bob', email: 'bob@example.org', email_verified: true })
    const { page, close } = await browser.visitor(world, 'anonymous')
    await page.goto(`${world.base}notes/n9/`)
    await page.getByRole('link', { name: 'Log in' }).last().click()
    await page.getByRole('link', { name: 'Log in with test' }).click()
    await page.locator('input[name=login]').fill('bob')
    await page.locator('input[name=password]').fill('any')
    await page.locator('button[type=submit]').click()
    await page.locator('button[type=submit]').click()
    await page.waitForURL(`${world.base}notes/n9/`)
    t.equal(await page.locator('h1').innerText(), 'You may not do this', 'identified, and without rights')
    await page.getByRole('link', { name: 'Account' }).click()
    t.match(await page.locator('main').innerText(), /a log-in/)
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.goto(`${world.base}access`)
    t.match(await page.locator('main').innerText(), /not logged in/)
    await close()
  })
  await row('the owner logs in by the link of the start: one button, and no second use', async (t) => {
    const { page, close, reports } = await browser.visitor(world, 'anonymous')
    const { gateway, dataspaces } = world.running
    const link = LOGIN_LINKS.of(gateway).make(dataspaces[0]!)!
    const referers: (string | undefined)[] = []
    page.on('request', (request) => void referers.push(request.headers().referer))
    await page.goto(link)
    await picture(page, 'owner-log-in')
    await page.getByRole('button', { name: 'Log in as the owner' }).click()
    await page.waitForURL(world.base)
    await page.getByRole('link', { name: 'Account' }).click()
    t.match(await page.locator('main').innerText(), new RegExp(`${world.ownerWebId}[^]*a log-in`))
    t.notOk(
      referers.some((referer) => referer?.includes('link=')),
      'no request names the link',
    )
    await page.goto(link)
    t.match(await page.locator('main').innerText(), /has been used[^]*triplegate login-link/)
    t.same(reports, [])
    await close()
  })
  await row('an access token is made, shown once, used by a program, and revoked', async (t) => {
    const { page } = owner
    await page.goto(`${world.base}access`)
    await page.getByRole('link', { name: 'Access tokens' }).click()
    await page.getByLabel('Name of the program').fill('backup')
    await page.getByRole('button', { name: 'Create the token' }).click()
    const token = await page.locator('pre').first().innerText()
    await picture(page, 'token-made')
    const use = async (): Promise<number> =>
      (await world.as('anonymous')('GET', '/notes/n9/', { fields: { Authorization: `Bearer ${token}` } })).status
    t.equal(await use(), 200)
    await page.goto(`${world.base}admin/tokens`)
    t.notMatch(await page.content(), token)
    t.match(await page.locator('tbody').innerText(), /backup[^]*Read it/)
    await page.getByRole('button', { name: 'Revoke backup' }).click()
    t.equal(await use(), 401)
    const id = /^tgt_([0-9a-f]+)_/.exec(token)![1]!
    const foreign = await world.as('owner')('POST', `/admin/tokens?revoke=${id}`)
    t.equal(foreign.status, 403, 'only a page of the gateway revokes by a form')
  })
}
