// Sparql-http-client as a client: what an agent may do at a dataset, one line for each step.
// Arguments: the dataset and the base, then for each agent its name and its access token ('' for none).
import { Readable } from 'node:stream'
import StreamClient from 'sparql-http-client'
import ParsingClient from 'sparql-http-client/ParsingClient.js'

const QUERY = "SELECT ?v { GRAPH ?g { ?s <urn:value> ?v } FILTER(!STRSTARTS(STR(?g), 'urn:')) } ORDER BY ?v"
const [, , dataset, base, ...agents] = process.argv

async function step(agent, name, run) {
  const outcome = await run().then(
    (value) => value ?? 'done',
    (error) => error.status ?? error,
  )
  process.stdout.write(`${agent}\t${name}\t${outcome}\n`)
}

async function sizeOf(quads) {
  let size = 0
  for await (const quad of quads) size += quad ? 1 : 0
  return size
}

for (let at = 0; at < agents.length; at += 2) {
  const [agent, token] = agents.slice(at, at + 2)
  const options = {
    endpointUrl: `${dataset}/query`,
    updateUrl: `${dataset}/update`,
    storeUrl: `${dataset}/data`,
    ...(token && { headers: { Authorization: `Bearer ${token}` } }),
  }
  const [{ query }, { store, factory }] = [new ParsingClient(options), new StreamClient(options)]
  const own = factory.namedNode(`urn:client:${agent}`)
  const [s, p] = [factory.namedNode('urn:s'), factory.namedNode('urn:value')]
  await step(agent, 'query', async () => (await query.select(QUERY)).map(({ v }) => v.value).join(' '))
  await step(agent, 'update', () => query.update(`INSERT DATA { GRAPH <${own.value}> { <urn:s> <urn:value> 1 } }`))
  await step(agent, 'put', () => store.put(Readable.from([factory.quad(s, p, factory.literal('put'))]), { graph: own }))
  await step(agent, 'get own', () => sizeOf(store.get(own)))
  await step(agent, 'get hidden', async () => (await sizeOf(store.get(factory.namedNode(`${base}hidden/`)))) > 0)
  await step(agent, 'get open', async () => (await sizeOf(store.get(factory.namedNode(`${base}open/`)))) > 0)
  await step(agent, 'drop', () => query.update(`DROP GRAPH <${own.value}>`))
}
