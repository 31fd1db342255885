// Regular expressions of sh:pattern, translated from XPath's syntax to JavaScript's.
import t from 'tap'
import { regexOf } from '../../../policies/constraints/xpath-regex.js'

void t.test('regular expressions (SHACL §4.4.3, XPath and XQuery Functions §5.6.1)', (t) => {
  // prettier-ignore
  const rows: readonly (readonly [pattern: string, flags: string, matching: readonly string[], others: readonly string[]])[] = [
    ['^\\w+$',              '',   ['Müller', '名前', 'a1', '+', '€'], ['a_b', 'a b', 'a-b', '']],
    ['^\\W$',               '',   ['_', ' ', '-'],            ['a', 'é', '+']],
    ['^[\\w.-]+$',          '',   ['Jörg-a.b'],               ['a_b', 'a b']],
    ['^[^\\w]$',            '',   ['_'],                      ['ü']],
    ['^\\d{2}$',            '',   ['12', '१२'],               ['1a']],
    ['^[\\D]$',             '',   ['a'],                      ['1', '१']],
    ['^\\s$',               '',   [' ', '\t', '\n', '\r'],    ['\u00a0', '\f', '\u2003']],
    ['^[^\\s]$',            '',   ['\u00a0', 'a'],            [' ']],
    ['^\\i\\c*$',           '',   ['a', '_a-1.b', ':ü·'],     ['1a', 'a b', '-a']],
    ['^[\\i-[:]][\\c-[:]]*$', '', ['a', 'Ä-1', '_.'],         ['a:b', '1', ':']],
    ['^[\\I]\\C$',          '',   ['1 ', ' !'],               ['a ', '1a']],
    ['^[a-z-[aeiou]]+$',    '',   ['xyz'],                    ['xaz', '-']],
    ['^[^a-z-[0-9]]+$',     '',   ['ABC'],                    ['a', '1', 'A1']],
    ['^[a-z-[b-y-[m]]]+$',  '',   ['amz'],                    ['b', 'n']],
    ['^[a-c-[B]]$',         'i',  ['A', 'c'],                 ['b', 'B']],
    ['^[-a]$',              '',   ['-', 'a'],                 ['b']],
    ['^[a-]$',              '',   ['-', 'a'],                 ['b']],
    ['^[+--]$',             '',   ['+', ',', '-'],            ['.']],
    ['^[\\w-.]$',           '',   ['-', '.', 'a'],            ['/']],
    ['^[\\[\\]\\\\&&(){}|/]+$', '', ['[]\\&(){}|/'],          ['a']],
    ['^[\\p{Lu}\\P{L}]+$',  '',   ['Ü1'],                     ['ü']],
    ['^\\p{L}+$',           '',   ['Ünder'],                  ['1']],
    ['^.$',                 '',   ['a', '😀', '\u2028'],      ['\n', '\r', '']],
    ['^a.b$',               's',  ['a\nb', 'a\u2028b'],       ['a\nnb']],
    ['^b$',                 'm',  ['a\nb\nc', 'b\n'],         ['a\rb', 'a\u2028b']],
    ['^$',                  'm',  ['', 'a\n\nb'],             ['a\n', 'a\nb']],
    ['^b$',                 '',   ['b'],                      ['a\nb', 'b\n']],
    ['a b [ c]\\ $',        'x',  ['ab  ', 'abc '], ['ab', 'a b c ']],
    ['ä',                   'i',  ['Ä'],                      ['a']],
    ['a.b[',                'q',  ['xa.b[x'],                 ['acb[']],
    ['A.B',                 'qi', ['a.b'],                    ['acb']],
    ['^(a|b)\\1$',          '',   ['aa', 'bb'],               ['ab']],
    ['^(?:ab)+?$',          '',   ['abab'],                   ['aba']],
    ['^(?!x)\\w+\\b$',      '',   ['ax'],                     ['xa']],
    ['^\\d{2}\\-\\d$',      '',   ['12-3'],                   ['123']],
    ['^\\^\\$\\.\\@\\"$',   '',   ['^$.@"'],                  ['a']],
    ['^{a}]$',              '',   ['{a}]'],                   ['a']],
    ['^[0-9]{2,}/[a-z]{1,2}$', '', ['123/ab'],                ['1/a']],
    ['^😀{2}$',             '',   ['😀😀'],                   ['😀']],
  ]
  for (const [pattern, flags, matching, others] of rows) {
    const expression = regexOf(pattern, flags)
    for (const text of matching) t.ok(expression?.test(text), `${pattern} matches ${JSON.stringify(text)}`)
    for (const text of others)
      t.equal(expression?.test(text), false, `${pattern} does not match ${JSON.stringify(text)}`)
  }
  // prettier-ignore
  const unusable: readonly string[] = [
    '(', 'a**', 'a++', '\\', '\\a', '\\Z', '\\2(a)', '(?i)a', '[a', '[a\\', '[]', '[^]', '[z-a]',
    '[a[b]]', '[[:alpha:]]', '[a-z-[aeiou]b]', '\\p{IsGreek}', '[\\p{Script=Greek}]', '\\p{Letter}', '\\pL',
    `${'[a-'.repeat(5000)}[b]${']'.repeat(5000)}`,
  ]
  for (const pattern of unusable) t.equal(regexOf(pattern, ''), undefined, pattern.slice(0, 40))
  t.equal(regexOf('a', 'g'), undefined, 'an unknown flag')
  t.end()
})
