// The rows about an empty application, forms by shapes, files, the keyboard, and the operators' page.
import type { Test } from 'tap'
import type { Visitor } from '../../support/browser.js'
import { fits, picture } from '../../support/browser.js'
import { rowsOf } from '../../support/stores.js'
import { ttl, type World } from '../../support/world.js'

export async function start(t: Test, { base }: World, { page }: Visitor): Promise<void> {
  await rowsOf(t, 'embedded')('an empty application says what to do first, with commands that name it', async (t) => {
    await page.goto(base)
    await picture(page, 'start')
    const commands = await page.locator('pre').allInnerTexts()
    t.equal(commands.length, 3)
    for (const command of commands) t.match(command, base)
  })
}

const SHAPES = `@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
  <http://e/Book> rdfs:label "Book" . <http://e/S> sh:targetClass <http://e/Book> ;
    sh:property [ sh:path <http://e/isbn> ; sh:name "ISBN" ; sh:description "Ten or thirteen digits." ; sh:minCount 1 ; sh:maxCount 1 ; sh:order 1 ] ,
      [ sh:path <http://e/pages> ; sh:name "Pages" ; sh:datatype xsd:integer ; sh:maxCount 1 ; sh:order 2 ] ,
      [ sh:path <http://e/published> ; sh:name "Published" ; sh:datatype xsd:date ; sh:maxCount 1 ; sh:order 3 ] ,
      [ sh:path <http://e/author> ; sh:name "Author" ; sh:nodeKind sh:IRI ; sh:order 4 ] ,
      [ sh:path <http://e/binding> ; sh:name "Binding" ; sh:in ("hard" "soft") ; sh:maxCount 1 ; sh:order 5 ] ,
      [ sh:path <http://e/genre> ; sh:name "Genre" ; sh:in ("novel" "poetry" "play") ; sh:order 6 ] .`

export async function fields(t: Test, world: World, { page }: Visitor): Promise<void> {
  const row = rowsOf(t, 'embedded')
  const owner = world.as('owner')
  await owner('PUT', '/books/', ttl('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> .'))
  await owner('PUT', '/admin/ontologies/books/', ttl(SHAPES))
  const invalid = (label: string): Promise<string | null> =>
    page.getByLabel(label, { exact: true }).getAttribute('aria-invalid')
  await row(
    'a new document of a type gets the fields of its shape; a 422 is shown at its field, and nothing typed is lost',
    async (t) => {
      await page.goto(`${world.base}books/?form=new`)
      await page.getByLabel('What it describes').selectOption('Book')
      await page.getByRole('button', { name: 'Choose' }).click()
      await page.getByLabel('Title').fill('Emma')
      await page.getByLabel('Pages').fill('many')
      await page.getByLabel('Author').fill('https://example.org/austen')
      await page.getByLabel('Binding').selectOption('soft')
      for (const genre of ['novel', 'play']) await page.getByLabel(genre).check()
      await page.getByRole('button', { name: 'Create' }).click()
      t.equal(await page.title(), `New document · ${new URL(world.base).host}`)
      t.same([await invalid('ISBN'), await invalid('Pages'), await invalid('Author')], ['true', 'true', null])
      t.same(
        [await page.getByLabel('Title').inputValue(), await page.getByLabel('Pages').inputValue()],
        ['Emma', 'many'],
      )
      t.ok(await page.getByLabel('play').isChecked())
      await picture(page, 'fields-refused')
      await fits(t, page)
      await page.getByLabel('ISBN').fill('0141439580')
      await page.getByLabel('Pages').fill('474')
      await page.getByRole('button', { name: 'Create' }).click()
      t.equal(page.url(), `${world.base}books/emma/`)
      const { text } = await owner('GET', '/books/emma/', { fields: { Accept: 'application/n-triples' } })
      t.match(text, `<${page.url()}#this> <http://e/pages> "474"^^<http://www.w3.org/2001/XMLSchema#integer>`)
      t.match(text, `<${page.url()}#this> <http://e/author> <https://example.org/austen>`)
      t.equal(text.match(/<http:\/\/e\/genre>/g)?.length, 2)
    },
  )
  await row(
    'an edit: fields beside the rest as Turtle; a value that is not an IRI is refused at its field; the preview has both',
    async (t) => {
      await page.goto(`${world.base}books/emma/?form=edit`)
      t.equal(await page.getByLabel('ISBN').inputValue(), '0141439580')
      const area = page.getByLabel('Everything else, as Turtle')
      t.notMatch(await area.inputValue(), /isbn/)
      await area.fill(`${await area.inputValue()}\n<#this> <http://e/note> "read" .`)
      await page.getByLabel('Author', { exact: true }).fill('Jane Austen')
      await page.getByLabel('Published').fill('1815-12-23')
      await page.getByRole('button', { name: 'Save' }).click()
      t.equal(await invalid('Author, 2'), 'true')
      t.match(await page.locator('.error').innerText(), /is not a full IRI/)
      t.equal(await page.getByLabel('Published').inputValue(), '1815-12-23')
      await page.getByLabel('Author', { exact: true }).fill('https://example.org/jane')
      await page.getByRole('button', { name: 'Show the changes' }).click()
      t.match(await page.locator('.changes').first().innerText(), /1815-12-23/)
      await page.getByRole('button', { name: 'Save' }).click()
      t.equal(page.url(), `${world.base}books/emma/`)
      const { text } = await owner('GET', '/books/emma/', { fields: { Accept: 'application/n-triples' } })
      for (const line of [
        '<http://e/note> "read"',
        '<http://e/author> <https://example.org/jane>',
        '<http://e/isbn> "0141439580"',
      ])
        t.match(text, line)
      t.notMatch(text, 'example.org/austen')
    },
  )
  await row('agents who may not write see no shapes', async (t) => {
    const got = await world.as('reader')('GET', '/books/emma/?form=edit', { fields: { Accept: 'text/html' } })
    t.notMatch(got.text, 'ISBN')
  })
}

export async function files(t: Test, world: World, { page }: Visitor): Promise<void> {
  await rowsOf(t, 'embedded')('a file is uploaded on the page of a container, and shown there', async (t) => {
    await page.goto(`${world.base}books/`)
    await page.getByText('Upload a file').click()
    await page
      .getByLabel('File')
      .setInputFiles({ name: 'cover.txt', mimeType: 'text/plain', buffer: Buffer.from('A cover') })
    await page.getByRole('button', { name: 'Upload' }).click()
    t.equal(page.url(), `${world.base}books/`)
    t.match(await page.locator('main').innerText(), 'cover.txt')
    const href = await page.locator('a[href*="/uploads/"]').first().getAttribute('href')
    t.equal((await world.as('owner')('GET', new URL(href!).pathname)).text, 'A cover')
  })
}

export async function byKeyboard(t: Test, world: World, { page }: Visitor): Promise<void> {
  await rowsOf(t, 'embedded')('keyboard alone: past the navigation, to a new document, and created', async (t) => {
    await page.goto(`${world.base}books/`)
    const focused = (): Promise<string> => page.locator(':focus').innerText()
    await page.keyboard.press('Tab')
    t.equal(await focused(), 'Skip to content')
    await page.keyboard.press('Enter')
    for (
      let i = 0;
      i < 10 && ((await page.locator(':focus').count()) === 0 || (await focused()) !== 'New document');
      i++
    )
      await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(/form=new/)
    await page.getByLabel('Title').focus()
    await page.keyboard.type('Typed')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${world.base}books/typed/`)
    t.equal(await page.locator('h1').innerText(), 'Typed')
  })
}

export async function operators(t: Test, { page, reports }: Visitor, url: string): Promise<void> {
  await rowsOf(t, 'embedded')(
    'operators see health, journal, refusals with reasons, and purge by a form',
    async (t) => {
      await page.goto(url)
      const text = await page.locator('main').innerText()
      t.match(text, /Ready[^]*Commits[^]*Answered without the store/)
      t.match(text, /\/notes\/n9\/[^]*403 Forbidden: no-authorization/)
      await page.getByRole('button', { name: 'Purge' }).click()
      t.match(await page.getByRole('status').innerText(), /caches were cleared/)
      await page.getByRole('link', { name: 'Stop refreshing' }).click()
      t.match(page.url(), /still/)
      t.same(reports, [])
    },
  )
}
