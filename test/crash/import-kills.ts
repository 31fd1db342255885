// Kills an import repeatedly, and compares the result with that of an import that was not interrupted.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeClient, type Client } from '../support/client.js'
import { accept, ttl } from '../support/world.js'
import { historyFolder, makeSite, startGateway, untilSettled, type Site } from './gateway-process.js'

export interface KilledImport {
  readonly rows: number
  readonly documents: number
  readonly kills: number
  /** From 0 to 1. */
  readonly random: () => number
}

export interface Left {
  readonly state: string
  /** The kills before the import was finished. */
  readonly killed: number
  /** `document value` of each row, sorted. */
  readonly found: readonly string[]
  readonly expected: readonly string[]
  /** Imported documents that do not have exactly one version. */
  readonly otherVersions: readonly string[]
}

const QUERY = `CONSTRUCT { GRAPH ?g { ?g <http://purl.org/dc/terms/title> ?group ; <urn:value> ?value ; <urn:node> [ <urn:of> ?value ] } }
  WHERE { ?row <#group> ?group ; <#value> ?value BIND(IRI(CONCAT(STR(?base), "imported/", ?group, "/")) AS ?g) }`

const ended = /#(?:Done|Failed|Cancelled)>/

export async function killImport(folder: string, { rows, documents, kills, random }: KilledImport): Promise<Left> {
  const site = await makeSite(folder, [])
  const groupOf = (i: number): string => `g${i % documents}`
  const lines = Array.from({ length: rows }, (_, i) => `${groupOf(i)},v${i}`)
  let gateway = startGateway(site)
  if (!(await gateway.ready)) throw new Error(gateway.output())
  let client = ownerOf(site)
  await client('PUT', '/imported/', ttl('<> a <https://www.w3.org/ns/ldt/document-hierarchy#Container> ; <http://purl.org/dc/terms/title> "I" .')) // prettier-ignore
  const sent = { fields: { 'Content-Type': 'text/csv' }, body: `group,value\n${lines.join('\n')}\n` }
  const started = await client('POST', `/importer?query=${encodeURIComponent(QUERY)}`, sent)
  const document = new URL(started.fields.location!).pathname
  const stateOf = async (): Promise<string> => (await client('GET', document, accept('application/n-triples'))).text
  const progressOf = async (): Promise<string> => {
    const { text } = await client('GET', `/importer?import=${encodeURIComponent(started.fields.location!)}`, accept('application/n-triples')) // prettier-ignore
    return text.match(/#(?:rows|written)> "\d+"/g)?.join() ?? ''
  }
  let killed = 0
  while (killed < kills) {
    // An import is given up at the third start without progress.
    const before = await progressOf()
    while (killed % 2 === 1 && !ended.test(await stateOf()) && (await progressOf()) === before) await sleep(20)
    // The first kill comes soon, while the import is certainly running.
    await sleep(20 + random() * (killed === 0 ? 300 : 1_000))
    if (ended.test(await stateOf())) break
    await gateway.kill()
    killed++
    client.close()
    gateway = startGateway(site)
    if (!(await gateway.ready)) throw new Error(gateway.output())
    client = ownerOf(site)
  }
  let state = await stateOf()
  for (; !ended.test(state); state = await stateOf()) await sleep(100)
  const query = `SELECT ?g ?v WHERE { GRAPH ?g { ?g <urn:value> ?v . ?n <urn:of> ?v FILTER(STRSTARTS(STR(?n), CONCAT(STR(?g), "#id"))) } }`
  const listed = await client('GET', `/sparql?query=${encodeURIComponent(query)}`, accept('text/csv'))
  const found = listed.text.trim().split(/\r?\n/).slice(1).map((line) => line.replace(',', ' ')).sort() // prettier-ignore
  const unsettled = await untilSettled(site)
  if (unsettled !== undefined) throw new Error(unsettled)
  client.close()
  await gateway.stop()
  const expected = lines.map((line, i) => `${site.base}imported/${groupOf(i)}/ ${line.split(',')[1]}`).sort()
  return { state, killed, found, expected, otherVersions: versionsOtherThanOne(site, documents) }
}

const ownerOf = ({ folder, port }: Site): Client =>
  makeClient({
    port,
    ca: readFileSync(join(folder, 'certs/server.pem'), 'utf8'),
    pem: readFileSync(join(folder, 'certs/owner.pem'), 'utf8'),
  })

function versionsOtherThanOne(site: Site, documents: number): string[] {
  const repository = join(historyFolder(site, site.base), 'repository.git')
  const options = { encoding: 'utf8', maxBuffer: 2 ** 28 } as const
  const log = execFileSync('git', ['-C', repository, 'log', '--all', '--format=%B'], options)
  const counts = new Map<string, number>()
  for (const [, name] of log.matchAll(/^Document: (.*)$/gm)) counts.set(name!, (counts.get(name!) ?? 0) + 1)
  const wrong: string[] = []
  for (let i = 0; i < documents; i++) {
    const name = `${site.base}imported/g${i}/`
    if (counts.get(name) !== 1) wrong.push(`${name}: ${counts.get(name) ?? 0}`)
  }
  return wrong
}
