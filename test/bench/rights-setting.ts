// The setting of the rows about rights on queries: Fuseki on TDB2 with a union default graph, agents with different
// rights, and a gateway in front of it.
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { makeClientCertificate } from '../../gateway/agents/make-certificate.js'
import { startDurableFuseki } from '../crash/durable-fuseki.js'
import { fetchFuseki } from '../support/fuseki.js'
import { freePort } from '../support/ports.js'
import { profileOf } from '../support/world.js'
import { untilListening } from './contestants.js'
import { start, type Started } from './machine.js'
import { AGENT_NAMES, containerQuads, rightsAgent, rightsQuads, rulesQuads, type AgentName } from './rights-data.js'

export interface RightsSetting {
  readonly base: string
  documents(): number
  /** Adds documents, up to this number. */
  grow(documents: number): Promise<void>
  /** Stops the gateway started before. */
  startGateway(): Promise<void>
  /** The result of a query, as text. Throws if it is refused. */
  ask(name: AgentName, query: string): Promise<string>
  close(): Promise<void>
}

const DOCUMENTS_AT_ONCE = 5_000

export async function makeRightsSetting(): Promise<RightsSetting | { readonly missing: string }> {
  const fetched = fetchFuseki()
  if ('missing' in fetched) return fetched
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-rights-'))
  const [port, https, http] = [await freePort(), await freePort(), await freePort()]
  const base = `https://localhost:${https}/`
  const admin = `${base}admin/`
  const place = { jar: fetched.jar, port, folder }
  const fuseki = await startDurableFuseki(place, ['ds', 'admin'], { memory: '3g', unions: ['ds'] })
  const url = (dataset: string): string => `http://127.0.0.1:${port}/${dataset}`
  const send = async (to: string, type: string, body: string): Promise<void> => {
    const answer = await fetch(to, { method: 'POST', headers: { 'Content-Type': type }, body })
    if (!answer.ok) throw new Error(`${to}: ${answer.status} ${await answer.text()}`)
  }
  const certificates = new Map<AgentName, string>()
  let gateway: Started | undefined
  let documents = 0
  const close = async (): Promise<void> => {
    await gateway?.end()
    await fuseki.kill()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await send(`${url('ds')}/data`, 'application/n-quads', containerQuads(base))
    await send(`${url('admin')}/data`, 'application/n-quads', rulesQuads(base, admin))
    for (const name of AGENT_NAMES) {
      const webId = rightsAgent(admin, name)
      const pem = await makeClientCertificate(webId, name, Date.now())
      certificates.set(name, `:${new X509Certificate(pem).raw.toString('base64')}:`)
      const profile = encodeURIComponent(webId.split('#', 1)[0]!)
      await send(`${url('admin')}/data?graph=${profile}`, 'text/turtle', profileOf(webId, pem))
    }
  } catch (error) {
    await close()
    throw error
  }
  return {
    base,
    close,
    documents: () => documents,
    async grow(number) {
      while (documents < number) {
        const next = Math.min(number, documents + DOCUMENTS_AT_ONCE)
        await send(`${url('ds')}/data`, 'application/n-quads', rightsQuads(base, documents, next))
        documents = next
      }
    },
    async startGateway() {
      await gateway?.end()
      gateway = start(process.execPath, [
        ...[resolve('dist/gateway/main.js'), 'serve', '--base', base, '--https', String(https), '--http', String(http)],
        ...['--backend', url('ds'), '--admin-backend', url('admin'), '--data', join(folder, 'data')],
        ...['--trusted-proxy', '127.0.0.1/32', '--management', 'off', '--log-level', 'warn'],
      ])
      await untilListening('the gateway', gateway, http)
    },
    async ask(name, query) {
      const path = `/sparql?query=${encodeURIComponent(query)}`
      const fields = { Host: new URL(base).host, 'Client-Cert': certificates.get(name)!, Accept: 'text/csv' }
      const asked = request({ host: '127.0.0.1', port: http, path, headers: fields }).end()
      const [response] = (await once(asked, 'response')) as [AsyncIterable<Buffer> & { statusCode: number }]
      let text = ''
      for await (const piece of response) text += piece.toString()
      if (response.statusCode !== 200) throw new Error(`${response.statusCode} for ${name}: ${text.slice(0, 300)}`)
      return text
    },
  }
}
