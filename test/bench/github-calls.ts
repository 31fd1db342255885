// The number of calls to GitHub for each write: counted by the double, for single writes and for many at once.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { isFailure, type Setback } from '../../versioning/failure.js'
import { openGitHubRepository } from '../../versioning/github/github-repository.js'
import { openHistory } from '../../versioning/open-history.js'
import { openGitHub } from '../support/github.js'
import type { Rows } from './documents.js'
import { PREFIX } from './versioned-repository.js'

const BASE = 'https://data.example/'
const WRITES = 30
const DOCUMENTS = 5
const PATIENCE_MS = 30_000

export async function gitHubCalls(): Promise<Rows> {
  const ends: (() => unknown)[] = []
  const faults: string[] = []
  const scope = {
    fail: (what: string) => void faults.push(what),
    teardown: (end: () => unknown) => void ends.push(end),
  }
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-bench-'))
  try {
    const github = await openGitHub(scope as unknown as Test)
    const now = (): number => Date.now()
    const { location, apiBase, token, calls } = github
    const repository = succeeded(
      await openGitHubRepository({ location, apiBase, token, branch: 'main', pathPrefix: PREFIX, now, pause: 0 }),
    )
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
    const history = succeeded(await openHistory({ folder, repository, base: BASE, prefix: PREFIX, now, log }))
    const write = async (n: number): Promise<void> => {
      const content = `<${BASE}#it> <http://purl.org/dc/terms/title> "Version ${n}" .\n`
      const change = { document: `${BASE}${n % DOCUMENTS}/`, method: 'PUT', agent: undefined, time: now(), content }
      history.done(succeeded(await history.begin([{ ...change, before: undefined }])))
    }
    const settled = async (): Promise<void> => {
      if (!(await history.settled(PATIENCE_MS))) throw new Error('GitHub: not committed in time')
    }
    // The first writes create the branch and its files.
    for (let n = 0; n < DOCUMENTS; n++) await write(n)
    await settled()
    const before = calls.length
    for (let n = 0; n < WRITES; n++) {
      await write(DOCUMENTS + n)
      if (n % 2 === 0) await settled()
    }
    await settled()
    const perWrite = (calls.length - before) / WRITES
    await history.close()
    await repository.close()
    if (faults.length > 0) throw new Error(faults[0])
    return {
      rows: [['GitHub calls per write', perWrite.toFixed(2), '', '', '', '≤ 1', perWrite <= 1 ? 'met' : 'missed']],
      notes: [`GitHub: ${WRITES} writes to ${DOCUMENTS} documents after the first of each, with a double of its API.`],
    }
  } finally {
    for (const end of ends.reverse()) await end()
    rmSync(folder, { recursive: true, force: true })
  }
}

function succeeded<T>(value: T | Setback): T {
  if (isFailure(value)) throw new Error(value.detail)
  return value
}
