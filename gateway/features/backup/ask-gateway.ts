// Asks the gateway that runs on a data folder for a backup, at its management port.
import { request, type IncomingMessage } from 'node:http'
import { managementError } from '../../commands/management-refusal.js'
import { WRITE_FIELD } from '../../request/managed.js'
import { ARCHIVE_TYPE, BACKUP_PATH } from './manifest.js'
import { Unable } from './unable.js'

/** Stores and files may be slow, and the gateway first waits for the writes under way. */
const IDLE_MS = 300_000

/** The bytes of the archive; undefined if no gateway on this data folder answers. Throws Unable. */
export async function askForBackup(port: number, key: string): Promise<AsyncIterable<Uint8Array> | undefined> {
  const headers = { [WRITE_FIELD]: '1', authorization: `Bearer ${key}` }
  const sent = request({ host: '127.0.0.1', port, path: BACKUP_PATH, method: 'POST', headers, timeout: IDLE_MS })
  const failed = (why: string): Unable => new Unable(`The gateway at port ${port} ${why}`)
  sent.on('timeout', () => sent.destroy(failed('has been silent for 5 minutes. See its log.')))
  sent.end()
  const answer = await new Promise<IncomingMessage | NodeJS.ErrnoException>((resolve) => {
    sent.on('response', resolve).on('error', resolve)
  })
  if (answer instanceof Error) {
    if (answer.code === 'ECONNREFUSED') return undefined
    throw answer instanceof Unable ? answer : failed(`broke off: ${answer.message}.`)
  }
  const { statusCode, headers: fields } = answer
  if (statusCode === 200 && fields['content-type'] === ARCHIVE_TYPE) return wholeOf(answer, failed)
  let text = ''
  for await (const piece of answer) text = (text + String(piece)).slice(0, LONGEST_REFUSAL)
  if (statusCode === 401 || statusCode === 404) return undefined
  throw failed(`refuses: ${managementError(text) ?? statusCode}`)
}

const LONGEST_REFUSAL = 4096

async function* wholeOf(
  answer: AsyncIterable<Uint8Array>,
  failed: (why: string) => Unable,
): AsyncGenerator<Uint8Array> {
  try {
    yield* answer
  } catch {
    throw failed('broke off. See its log.')
  }
}
