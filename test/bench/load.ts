// Load: the same request repeatedly over persistent connections, counted; by wrk, or by our own client.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endWithThisProcess } from '../support/fuseki.js'
import { provide } from './machine.js'
import { openConnection, requestBytes, type Peer } from './raw-http.js'

export const CONNECTIONS = 32

export interface Load extends Peer {
  readonly method?: string
  /** Several targets take turns. */
  readonly targets: readonly string[]
  readonly fields: Readonly<Record<string, string>>
  readonly body?: string
  readonly status: readonly number[]
}

let wrk: boolean | undefined
/** The program that makes the load of the rows without TLS. */
export const generator = (): 'wrk' | 'Node.js' => ((wrk ??= provide('wrk')) ? 'wrk' : 'Node.js')

/** Requests answered per second. Throws if an answer has another status. wrk does not support client certificates. */
export async function perSecond(load: Load, seconds: number): Promise<number> {
  await expectStatus(load)
  const figure = await (generator() === 'wrk' && load.pem === undefined ? byWrk : byOurselves)(load, seconds)
  // Work left over from this load must not run in the next turn.
  await expectStatus(load)
  return figure
}

/** Our own client checks the status before wrk runs: wrk only distinguishes statuses below 400 from others. */
async function expectStatus(load: Load): Promise<void> {
  const connection = await openConnection(load)
  const { method = 'GET', targets, fields, body } = load
  const { status, head, body: content } = await connection.exchange(requestBytes(method, targets[0]!, fields, body))
  connection.close()
  if (!load.status.includes(status)) throw new Error(`${head.split('\r\n')[0]}: ${content.toString().slice(0, 300)}`)
}

async function byWrk({ port, method = 'GET', targets, fields, body }: Load, seconds: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-wrk-'))
  const script = join(folder, 'requests.lua')
  const text = JSON.stringify
  writeFileSync(
    script,
    `local targets = { ${targets.map((target) => text(target)).join(', ')} }
local requests, n = {}, 0
init = function()
  for i, target in ipairs(targets) do requests[i] = wrk.format(${text(method)}, target, nil, ${body === undefined ? 'nil' : luaString(body)}) end
end
request = function() n = n % #requests + 1; return requests[n] end
`,
  )
  const given = Object.entries(fields).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  // The script costs wrk a call for each request, so a single request has none.
  const scripted = targets.length > 1 || method !== 'GET' ? ['-s', script] : []
  const path = scripted.length > 0 ? '/' : targets[0]!
  const args = [
    '-t1',
    `-c${CONNECTIONS}`,
    `-d${Math.max(1, Math.round(seconds))}s`,
    '--timeout',
    '10s',
    ...scripted,
    ...given,
  ]
  const child = spawn('wrk', [...args, `http://127.0.0.1:${port}${path}`], { stdio: ['ignore', 'pipe', 'pipe'] })
  const forget = endWithThisProcess(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (output += piece))
  await once(child, 'close')
  forget()
  rmSync(folder, { recursive: true, force: true })
  const [, rate] = /^Requests\/sec:\s+([\d.]+)/m.exec(output) ?? []
  const fault = /^\s*(Non-2xx or 3xx responses|Socket errors):.*$/m.exec(output)
  if (rate === undefined || fault) throw new Error(fault?.[0].trim() ?? `wrk: ${output}`)
  return Number(rate)
}

/** Lua 5.1 reads decimal escapes of bytes. */
const luaString = (body: string): string =>
  `"${[...Buffer.from(body)].map((byte) => `\\${String(byte).padStart(3, '0')}`).join('')}"`

async function byOurselves(load: Load, seconds: number): Promise<number> {
  const { method = 'GET', targets, fields, body } = load
  const requests = targets.map((target) => requestBytes(method, target, fields, body))
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => openConnection(load)))
  let count = 0
  const from = performance.now()
  const until = from + seconds * 1000
  await Promise.all(
    connections.map(async (connection, n) => {
      for (let i = n; performance.now() < until; i++) {
        const { status } = await connection.exchange(requests[i % requests.length]!)
        if (!load.status.includes(status)) throw new Error(`status ${status}`)
        count++
      }
    }),
  ).finally(() => connections.forEach((connection) => connection.close()))
  return (count * 1000) / (performance.now() - from)
}
