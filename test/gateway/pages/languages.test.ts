// The languages of the pages: the one that a client gets, and the required content of a language file.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { textsFor, textsIn, type Languages, type Translated } from '../../../gateway/pages/languages.js'
import { readLook, type Look } from '../../../gateway/pages/theme.js'
import { ENGLISH, type Texts } from '../../../gateway/pages/texts.js'
import { rowsOf } from '../../support/stores.js'

const { languages } = readLook() as Look

void t.test('which language a client gets (RFC 9110 §12.5.4, RFC 4647 §3.4)', async (t) => {
  const row = rowsOf(t, 'none')
  // prettier-ignore
  const rows: readonly (readonly [field: string | undefined, tag: string])[] = [
    [undefined,                  'en'], ['de',                       'de'], ['DE',                  'de'], ['de-CH',         'de'],
    ['de-CH-1996',               'de'], ['de-CH, de;q=0.9, en;q=0.8', 'de'], ['en-GB, de;q=0.9',    'en'], ['fr, de;q=0.5',  'de'],
    ['en;q=0.5, de;q=0.6',       'de'], ['fr',                       'en'], ['*',                   'en'], ['de;q=0',        'en'],
    ['en;q=0, *',                'de'], ['nonsense;;, de',           'de'], ['',                    'en'], ['deu',           'en'],
  ]
  for (const [field, tag] of rows) {
    await row(`${field ?? 'no field'}: ${tag}`, (t) => {
      t.equal(textsFor(field, languages).tag, tag)
    })
  }
})

void t.test('a text with its arguments', async (t) => {
  const row = rowsOf(t, 'none')
  const texts = (tag: string, given: Translated): Texts => textsIn(tag, given)
  await row('words have the form that a number needs, and numbers are written as in the language', (t) => {
    const { versionsOf } = texts('de', { versionsOf: '{0} {0|Version|Versionen}' })
    t.same([versionsOf(1), versionsOf(2), versionsOf(12345)], ['1 Version', '2 Versionen', '12.345 Versionen'])
    const polish = texts('pl', { rows: '{0} {0|wiersz|wiersze|wierszy|wiersza}' })
    t.same([1, 3, 5].map(polish.rows), ['1 wiersz', '3 wiersze', '5 wierszy'])
  })
  await row('an argument is always plain text', (t) => {
    t.equal(texts('de', { logInWith: 'Mit {0}' }).logInWith('{1} $& {0}'), 'Mit {1} $& {0}')
  })
  await row('missing texts are English, also for codes', (t) => {
    const some = texts('de', { mode: { Read: 'Lesen' } })
    t.same([some.mode('Read'), some.mode('Write'), some.skip], ['Lesen', ENGLISH.mode('Write'), ENGLISH.skip])
  })
})

/** All texts in English, those of features too. */
const WHOLE: Record<string, unknown> = { ...ENGLISH }
for (const feature of readdirSync('dist/gateway/features')) {
  const file = resolve('dist/gateway/features', feature, 'texts.js')
  if (existsSync(file)) {
    const own = Object.entries((await import(file)) as object).filter(([name]) => name.endsWith('_TEXTS'))
    Object.assign(WHOLE, ...own.map(([, texts]) => texts as object))
  }
}

/** The names of all texts, with the places of their arguments. */
function namesIn(texts: unknown, before = ''): string[] {
  if (typeof texts !== 'object' || texts === null || Array.isArray(texts)) return [before]
  return Object.entries(texts).flatMap(([name, one]) => namesIn(one, before === '' ? name : `${before} ${name}`))
}

void t.test('the file of a language has every text', async (t) => {
  const row = rowsOf(t, 'none')
  /** Texts for codes: English has the table that the function reads. */
  const BY_CODE = new Set(['reason', 'mode', 'subject', 'errorTitle', 'errorAdvice'])
  for (const tag of (languages as Languages).keys()) {
    if (tag === 'en') continue
    await row(tag, (t) => {
      const file = JSON.parse(readFileSync(`gateway/pages/languages/${tag}.json`, 'utf8')) as Record<string, unknown>
      const top = (name: string): string => name.split(' ')[0]!
      const given = namesIn(file).filter((name) => !BY_CODE.has(top(name)))
      const wanted = namesIn(WHOLE).filter((name) => name !== 'tag' && !BY_CODE.has(top(name)))
      t.same(given.sort(), wanted.sort())
      for (const name of BY_CODE) t.type(file[name], 'object')
    })
  }
})
