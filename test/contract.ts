// `npm run contract`: runs the contract of a store on stores that `npm test` does not start; `npm run contract --
// NAME…` on some of them. Prints each row that fails. The exit code is 1 if other rows fail than those listed in
// docs/stores.md.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OTHER_STORES, type OtherStore } from './support/other-stores.js'
import { runTestFile } from './support/run-test-file.js'
import type { RowCount } from './support/stores.js'

const CONTRACT = 'test/gateway/stores/store-contract.test.ts'

/** The rows that are known to fail on a store. docs/stores.md, Other stores, describes the consequences. */
const NOT_HELD: Readonly<Record<string, readonly string[]>> = {
  rdf4j: [
    'is read as it was written: a triple term (RDF 1.2)',
    'every graph name is a graph of its own',
    'named graphs are not in the default graph',
  ],
  oxigraph: [
    ...['an integer', 'a decimal', 'a double', 'a boolean', 'a date and time'].map((name) => `is read as it was written: ${name}`),
    'two spellings of a value are two triples',
    'an update of a graph keeps the spelling of its other triples',
  ], // prettier-ignore
}

const print = (line: string): void => void process.stdout.write(`${line}\n`)

async function rowsOn({ datasets }: OtherStore): Promise<RowCount[]> {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-contract-'))
  const endpoints = datasets.flatMap(({ query, update, graphStore }) => [query, update, graphStore])
  try {
    await runTestFile(CONTRACT, { TRIPLEGATE_TEST_STORE: endpoints.join(' '), TRIPLEGATE_TEST_ROWS: folder })
    return readdirSync(folder)
      .flatMap((file) => readFileSync(join(folder, file), 'utf8').trim().split('\n'))
      .map((line) => JSON.parse(line) as RowCount)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** True if exactly the known rows fail. */
async function isAsDocumented(name: string): Promise<boolean> {
  const opened = await OTHER_STORES[name]!()
  if ('missing' in opened) {
    print(`${name}: skipped, ${opened.missing}`)
    return true
  }
  try {
    const rows = await rowsOn(opened)
    const failed = rows.filter(({ outcome }) => outcome === 'failed').map((row) => row.name)
    const known = NOT_HELD[name] ?? []
    print(`${name}: ${rows.length - failed.length} of ${rows.length} rows hold`)
    for (const row of failed) print(`  does not hold: ${row}`)
    for (const row of known.filter((each) => !failed.includes(each))) print(`  holds now: ${row}`)
    return rows.length > 0 && failed.every((row) => known.includes(row)) && known.every((row) => failed.includes(row))
  } finally {
    await opened.stop()
  }
}

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(OTHER_STORES)
for (const name of names) {
  if (!Object.hasOwn(OTHER_STORES, name)) {
    print(`${name} is none of ${Object.keys(OTHER_STORES).join(', ')}.`)
    process.exitCode = 2
  } else if (!(await isAsDocumented(name))) process.exitCode = 1
}
