// The gateway that triplegate token means: by its URL, by settings, or by the data folder.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { parseTokenArguments } from '../../../gateway/features/tokens/command.js'

const folder = mkdtempSync(join(tmpdir(), 'triplegate-bases-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const data = (...bases: string[]): string => {
  const path = mkdtempSync(join(folder, 'data-'))
  if (bases.length > 0)
    writeFileSync(join(path, 'seeded.json'), JSON.stringify(Object.fromEntries(bases.map((base) => [base, { state: 'done' }])))) // prettier-ignore
  return path
}

void t.test('the admin application that a command asks', (t) => {
  const known = data('https://localhost:9443/', 'https://localhost:9443/rules/')
  const other = data('https://admin.example.org/', 'https://example.org/')
  const several = data('https://a.org/', 'https://a.org/admin/', 'https://b.org/', 'https://b.org/admin/')
  // prettier-ignore
  const rows: readonly (readonly [line: string, env: Record<string, string>, admin: string | RegExp])[] = [
    ['list https://data.example.org/', {}, 'https://data.example.org/admin/'],
    ['list https://data.example.org', {}, 'https://data.example.org/admin/'],
    ['list https://data.example.org/admin/', {}, 'https://data.example.org/admin/'],
    ['list https://admin.example.org/', {}, 'https://admin.example.org/'],
    [`list https://localhost:9443/ --data ${known}`, {}, 'https://localhost:9443/rules/'],
    [`list --data ${known}`, {}, 'https://localhost:9443/rules/'],
    ['list', { TRIPLEGATE_DATA: known }, 'https://localhost:9443/rules/'],
    [`list --data ${other}`, {}, 'https://admin.example.org/'],
    [`list --data ${known}`, { TRIPLEGATE_BASE: 'https://x.org/' }, 'https://x.org/admin/'],
    [`list --data ${known} --admin https://y.org/a/`, {}, 'https://y.org/a/'],
    [`list --data ${several}`, {}, 'https://localhost:8443/admin/'],
    [`list --data ${data()}`, {}, 'https://localhost:8443/admin/'],
    ['revoke https://data.example.org/ 0123456789abcdef', {}, 'https://data.example.org/admin/'],
    ['create https://a.org/ https://b.org/ --name x', {}, /write triplegate token create URL/],
    ['create https://a.org/?x --name x', {}, /is not the base of a gateway/],
    ['revoke https://data.example.org/', {}, /write triplegate token/],
  ]
  for (const [line, env, admin] of rows) {
    const given = parseTokenArguments(line.split(' '), env, 0)
    const found = 'url' in given ? given.url.href : 'detail' in given ? given.detail : ''
    if (typeof admin === 'string') t.equal(found, admin, line)
    else t.match(found, admin, line)
  }
  t.end()
})
