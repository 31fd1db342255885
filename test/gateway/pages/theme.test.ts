// An operator's own look: a stylesheet after ours, a logo instead of the icon, and no other file of the folder.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { readLook, type Look } from '../../../gateway/pages/theme.js'
import { isFailure } from '../../../gateway/problem.js'
import { rowsOf } from '../../support/stores.js'

const folder = mkdtempSync(join(tmpdir(), 'triplegate-look-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const lookOf = (files: Readonly<Record<string, string>>): ReturnType<typeof readLook> => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return readLook(folder)
}
const ours = readLook() as Look

void t.test('the look of an operator', async (t) => {
  const row = rowsOf(t, 'none')
  // prettier-ignore
  const rows: readonly (readonly [name: string, files: Readonly<Record<string, string>>, styles: number, logo: RegExp | undefined])[] = [
    ['a stylesheet is loaded after ours',   { 'style.css': ':root { --accent: #036 }' },       2, undefined],
    ['a logo replaces the icon', { 'logo.svg': '<svg/>' },                        1, /^logo\.\w+\.svg$/],
    ['a logo as PNG',                 { 'logo.png': 'PNG' },                             1, /^logo\.\w+\.png$/],
    ['stylesheet and logo, no other file',           { 'style.css': 'a {}', 'logo.svg': '<svg/>', 'secret.txt': 'x', 'query.js': 'x' }, 2, /^logo\./],
  ]
  for (const [name, files, styles, logo] of rows) {
    await row(name, (t) => {
      const look = lookOf(files) as Look
      t.equal(look.styles.length, styles)
      t.same(look.styles[0], ours.styles[0])
      t.match(look.logo, logo ?? /^icon\./)
      for (const file of [...look.styles, look.logo, look.icon, look.script]) t.ok(look.files.has(file), file)
      t.equal(look.files.size, ours.files.size + Number('style.css' in files) + Number(logo !== undefined))
      t.not(look.id, ours.id, 'pages get other entity-tags')
    })
  }
  await row('a change of the stylesheet changes its name', (t) => {
    const names = ['a {}', 'b {}'].map((text) => (lookOf({ 'style.css': text }) as Look).styles[1])
    t.not(names[0], names[1])
  })
  await row('an empty folder is refused, with what to do', (t) => {
    const look = lookOf({})
    t.ok(isFailure(look))
    t.match((look as { detail: string }).detail, /Give a folder with one of them/)
  })
})
