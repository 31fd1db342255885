// The prefixes that people have typed, over restarts: they are in a file of the data folder, which is written when
// the gateway stops.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { GatewayCaches } from '../caches.js'
import { writePrivate } from '../identity/private-file.js'
import type { Log } from '../log.js'

/** @returns what writes them. A crash loses those since the start: they are comfort. */
export async function keepPrefixes(
  folder: string,
  prefixes: GatewayCaches['prefixes'],
  log: Log,
): Promise<() => Promise<void>> {
  const file = join(folder, 'prefixes.json')
  const failed = (err: unknown): void => log.warn({ file, err }, 'the prefixes that people have typed are not stored')
  const stored = await readFile(file, 'utf8').catch(() => '{}')
  try {
    for (const [document, text] of Object.entries(JSON.parse(stored) as object))
      prefixes.set(document, { text: String(text) })
  } catch (error) {
    failed(error)
  }
  return async () => {
    const entries = prefixes.entries().map(([document, { text }]) => [document, text] as const)
    if (entries.length > 0) await writePrivate(file, JSON.stringify(Object.fromEntries(entries))).catch(failed)
  }
}
