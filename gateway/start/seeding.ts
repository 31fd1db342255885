// In charge of writing the missing parts of the seed (seed.ts): idempotent, and never over existing documents.
import type { NewChange } from '../../versioning/history.js'
import type { Application, Dataspace } from '../gateway.js'
import { graphOf, nTriplesOf, type Quad } from '../rdf/graph.js'
import type { Log } from '../log.js'
import { isFailure, type Problem } from '../problem.js'
import { readStored } from '../rdf/read.js'
import { seedGraphs, type SeedAgents, type SeedGraphs } from './seed.js'

export async function seedDataspace(dataspace: Dataspace, agents: SeedAgents, log: Log): Promise<undefined | Problem> {
  const { endUser, admin } = dataspace
  const seed = seedGraphs({ iri: endUser.iri, endUser, admin }, agents)
  const author = { agent: agents.owner.webId, time: agents.now }
  return (
    (await seedOnce(endUser, seed.endUser, author, log)) ??
    (await seedOnce(admin, seed.admin, author, log)) ??
    (await addMissing(admin, seed.agents, author, log)) ??
    (await addMembers(admin, seed.members, author, log))
  )
}

/** The root document comes last: while it does not exist, the first start is not complete. */
async function seedOnce(
  application: Application,
  graphs: SeedGraphs,
  author: Author,
  log: Log,
): Promise<undefined | Problem> {
  const root = await application.store.read(application.base)
  if (isFailure(root)) return root
  return root === undefined ? addMissing(application, graphs, author, log) : undefined
}

type Author = Pick<NewChange, 'agent' | 'time'>

async function addMissing(
  { store, journalled }: Application,
  graphs: SeedGraphs,
  author: Author,
  log: Log,
): Promise<undefined | Problem> {
  for (const [graph, triples] of graphs) {
    const existing = await store.read(graph)
    if (isFailure(existing)) return existing
    if (existing !== undefined) continue
    const content = nTriplesOf(graphOf(triples))
    const failed = await journalled.carryOut({ document: graph, method: 'PUT', before: undefined, content, ...author })
    if (failed) return failed
    log.info({ graph }, 'seeded')
  }
  return undefined
}

/** The agents with the certificates of this installation keep their rights. */
async function addMembers(
  { store, journalled }: Application,
  members: readonly { graph: string; triple: Quad }[],
  author: Author,
  log: Log,
): Promise<undefined | Problem> {
  for (const { graph, triple } of members) {
    const existing = await store.read(graph)
    if (isFailure(existing)) return existing
    const triples = readStored(existing ?? '')
    if (isFailure(triples)) return triples
    const next = graphOf([...triples, triple])
    if (next.lines.length === triples.length) continue
    const change = { document: graph, method: 'POST', before: nTriplesOf(graphOf(triples)), content: nTriplesOf(next) }
    const failed = await journalled.carryOut({ ...change, ...author })
    if (failed) return failed
    log.warn({ graph, member: triple.object.value }, 'added a member that was missing')
  }
  return undefined
}
