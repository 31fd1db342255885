// Comunica as a client: what an agent may do at a dataset, one line for each step.
// Arguments: the folder that Comunica is installed in, the dataset, then for each agent its name and its access token ('' for none).
import { createRequire } from 'node:module'

const [, , folder, dataset, ...agents] = process.argv
const { QueryEngine } = createRequire(`${folder}/`)('@comunica/query-sparql')
const QUERY = "SELECT ?v { GRAPH ?g { ?s <urn:value> ?v } FILTER(!STRSTARTS(STR(?g), 'urn:')) } ORDER BY ?v"

async function step(agent, name, run) {
  const outcome = await run().then(
    (value) => value ?? 'done',
    (error) => /\b4\d\d\b/.exec(error.message)?.[0] ?? error,
  )
  process.stdout.write(`${agent}\t${name}\t${outcome}\n`)
}

for (let at = 0; at < agents.length; at += 2) {
  const [agent, token] = agents.slice(at, at + 2)
  // An engine remembers a source with the credential that it was first used with.
  const engine = new QueryEngine()
  const own = `urn:comunica:${agent}`
  const context = (service) => {
    const endpoint = { type: 'sparql', value: `${dataset}/${service}` }
    return { sources: [endpoint], destination: endpoint, ...(token && { httpAuth: `any:${token}` }) }
  }
  const update = (text) => engine.queryVoid(text, context('update'))
  await step(agent, 'query', async () => {
    const rows = await (await engine.queryBindings(QUERY, context('sparql'))).toArray()
    return rows.map((row) => row.get('v').value).join(' ')
  })
  await step(agent, 'insert', () => update(`INSERT DATA { GRAPH <${own}> { <urn:s> <urn:value> 1 } }`))
  await step(agent, 'construct', async () => {
    const quads = await engine.queryQuads(`CONSTRUCT { ?s ?p ?o } { GRAPH <${own}> { ?s ?p ?o } }`, context('sparql'))
    return (await quads.toArray()).length
  })
  await step(agent, 'drop', () => update(`DROP GRAPH <${own}>`))
}
