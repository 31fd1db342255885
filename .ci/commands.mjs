// Runs the commands of README and of the pages of docs/ as they are written, in a clone of this repository with a Fuseki
// at port 3030. Each page is one shell, in which a command or an HTTP request that fails ends the run. A block that
// cannot run here says why: ```sh no-run: reason. Arguments are pages; README always runs first.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fetchFuseki, startFuseki } from '../dist/test/support/fuseki.js'

const README = 'README.md'
const pages = process.argv.length > 2 ? process.argv.slice(2) : readdirSync('docs').filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`) // prettier-ignore
const textOf = (page) => readFileSync(page, 'utf8')

/** The blocks of a page, each with its first line. */
function blocksOf(page) {
  const text = textOf(page)
  return [...text.matchAll(/^```sh(?: ([^\n]*))?\n([^]*?)^```$/gm)].map((match) => ({
    place: `${page}:${text.slice(0, match.index).split('\n').length}`,
    info: match[1] ?? '',
    commands: match[2],
  }))
}

const GATE = /^gate\(\).*$/m.exec(textOf(README))[0]

// `serve` runs until the next one, or the end of the page. The exit code 1 is a finding (docs/troubleshooting.md).
const SHELL = `
set -euo pipefail
trap 'echo "FAILED: $place" >&2; tail -n 20 serve.log >&2' ERR
trap 'stop' EXIT
set -E
stop() { if [ -n "\${gateway:-}" ]; then kill -- "-$gateway" 2>/dev/null || true; wait "$gateway" || true; gateway=; fi; }
serve() {
  stop
  setsid npx "$@" >serve.log 2>&1 &
  gateway=$!
  until command curl -sf -o /dev/null http://127.0.0.1:9464/health/ready; do kill -0 "$gateway"; sleep 0.2; done
}
npx() { if [ "$1 $2" = 'triplegate serve' ]; then serve "$@"; else command npx "$@" || [ $? -eq 1 ]; fi; }
curl() { command curl -sS --fail-with-body "$@"; }
${GATE}
`

/** Blocks of Turtle that name a file. */
const filesOf = (page) => [...textOf(page).matchAll(/^```turtle ([\w.]+)\n([^]*?)^```$/gm)]

/** A page about Fuseki continues README's gateway in front of it, any other the one with the embedded store. */
function sessionOf(page) {
  const blocks = blocksOf(page).filter(({ info }) => info === '')
  const isFuseki = /localhost:3030/.test(blocks.map(({ commands }) => commands).join(''))
  const start = page === README || isFuseki ? '' : 'npx triplegate serve'
  const before =
    page === README ? '' : `export TRIPLEGATE_DATA=data${isFuseki ? '/fuseki' : ''}\n${start}\nANN=$(cat data/ann)`
  const run = blocks.map(({ place, commands }) => `place=${place}\necho "== $place" >&2\n${commands}`)
  return [SHELL, before, ...run, page === README ? 'echo "$ANN" >data/ann' : ''].join('\n')
}

const folder = mkdtempSync(join(tmpdir(), 'triplegate-commands-'))
const clone = join(folder, 'clone')
const found = fetchFuseki()
if ('missing' in found) throw new Error(`Fuseki: ${found.missing}`)
const fuseki = await startFuseki({ jar: found.jar, datasets: [], port: 3030 })
let status = 0
try {
  const created = await fetch(`${fuseki.base}/$/datasets`, { method: 'POST', body: new URLSearchParams({ dbName: 'ds', dbType: 'tdb2' }) }) // prettier-ignore
  if (!created.ok) throw new Error(`Fuseki made no dataset: ${created.status}`)
  spawnSync('git', ['clone', '--quiet', '.', clone], { stdio: 'inherit' })
  for (const page of [README, ...pages.filter((page) => page !== README)]) {
    for (const { place, info } of blocksOf(page).filter(({ info }) => info !== '')) console.log(`${place}: ${info}`)
    spawnSync('git', ['clean', '-fdq'], { cwd: clone })
    for (const [, name, text] of filesOf(page)) writeFileSync(join(clone, name), text)
    const script = join(folder, 'session.sh')
    writeFileSync(script, sessionOf(page))
    const run = spawnSync('bash', [script], { cwd: clone, stdio: ['ignore', 'pipe', 'inherit'], timeout: 600_000 })
    if (run.status === 0) continue
    process.stderr.write(run.stdout)
    status = 1
    if (page === README) break
  }
} finally {
  await fuseki.stop()
  if (status === 0) rmSync(folder, { recursive: true, force: true })
}
process.exit(status)
