// The keys that seal sessions, in a file of the data folder that only its owner may read. A new key is made every day,
// and each is kept until the last session that it sealed has expired.
import { randomBytes } from 'node:crypto'
import { chmod, readFile } from 'node:fs/promises'
import type { SealingKey, SealingKeys } from '../../policies/identity/seal.js'
import type { Log } from '../log.js'
import { writePrivate } from './private-file.js'

interface DatedKey extends SealingKey {
  /** ms since the epoch. */
  readonly made: number
}

const ROTATION_MS = 86_400_000

/** `lifetime` of a session in ms. An unreadable file is replaced, which ends all sessions. */
export async function openSessionKeys(
  file: string,
  lifetime: number,
  { now, log }: { readonly now: () => number; readonly log: Log },
): Promise<SealingKeys> {
  let keys: readonly DatedKey[] = await readKeys(file, log)
  let saving = Promise.resolve()

  function rotate(): DatedKey {
    const made = now()
    const fresh = { id: randomBytes(8).toString('hex'), secret: randomBytes(32), made }
    keys = [fresh, ...keys.filter((key) => key.made > made - ROTATION_MS - lifetime)]
    saving = saving
      .then(() => write(file, keys))
      .catch((error: unknown) => {
        log.error({ file, err: error }, 'session keys cannot be stored, so a restart will end all sessions')
      })
    return fresh
  }

  const current = (): DatedKey => {
    const [newest] = keys
    return newest && newest.made <= now() && newest.made > now() - ROTATION_MS ? newest : rotate()
  }
  current()
  await saving
  return {
    current,
    byId: (id) => keys.find((key) => key.id === id),
  }
}

async function readKeys(file: string, log: Log): Promise<readonly DatedKey[]> {
  try {
    const written = JSON.parse(await readFile(file, 'utf8')) as readonly { id: string; secret: string; made: number }[]
    await chmod(file, 0o600)
    const keys = written.map(({ id, secret, made }) => ({ id, secret: Buffer.from(secret, 'base64url'), made }))
    if (keys.every(({ id, secret, made }) => /^[0-9a-f]{16}$/.test(id) && secret.length === 32 && made > 0)) return keys
    log.warn({ file }, 'session keys are malformed, so all sessions have ended')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      log.warn({ file }, 'session keys cannot be read, so all sessions have ended')
    }
  }
  return []
}

function write(file: string, keys: readonly DatedKey[]): Promise<void> {
  const written = keys.map(({ id, secret, made }) => ({ id, secret: secret.toString('base64url'), made }))
  return writePrivate(file, JSON.stringify(written))
}
