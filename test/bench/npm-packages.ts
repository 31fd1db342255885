// npm packages for the comparison: fetched on demand, into .cache/bench/<name>/.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const FETCH_TIMEOUT_MS = 600_000

/** The folder whose node_modules/ has exactly these versions of the packages; or the reason why they are missing. */
export function fetchPackages(
  name: string,
  versions: Readonly<Record<string, string>>,
): { readonly folder: string } | { readonly missing: string } {
  const folder = resolve('.cache/bench', name)
  const manifest = JSON.stringify({ private: true, dependencies: versions })
  if (existsSync(join(folder, 'package.json')) && readFileSync(join(folder, 'package.json'), 'utf8') === manifest) {
    return { folder }
  }
  process.stderr.write(`Fetching ${Object.keys(versions).join(', ')} into ${folder}\n`)
  mkdirSync(dirname(folder), { recursive: true })
  // Installs into a folder next to the final one, and moves it when it is complete.
  const fresh = mkdtempSync(join(dirname(folder), 'fetch-'))
  try {
    writeFileSync(join(fresh, 'package.json'), manifest)
    // The scripts of packages are not run.
    const options = ['--prefix', fresh, '--ignore-scripts', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']
    const { status, stderr, error } = spawnSync('npm', ['install', ...options], {
      cwd: fresh,
      encoding: 'utf8',
      timeout: FETCH_TIMEOUT_MS,
    })
    if (status !== 0) return { missing: `npm could not fetch it: ${error?.message ?? stderr.trim()}` }
    rmSync(folder, { recursive: true, force: true })
    renameSync(fresh, folder)
    return { folder }
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}
