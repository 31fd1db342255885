// In charge of writing the seed (seed.ts) where it is missing: idempotent, and never over what is there.
import type { Application, Dataspace } from './gateway.js'
import { graphOf, nTriplesOf, type Quad } from './graph.js'
import type { Log } from './log.js'
import { isProblem, problem, type Problem } from './problem.js'
import { readNTriples } from './rdf-read.js'
import { seedGraphs, type SeedAgents, type SeedGraphs } from './seed.js'
import type { GraphStore } from './store.js'

export async function seedDataspace(dataspace: Dataspace, agents: SeedAgents, log: Log): Promise<undefined | Problem> {
  const { endUser, admin } = dataspace
  const seed = seedGraphs({ iri: endUser.iri, endUser, admin }, agents)
  return (
    (await seedOnce(endUser, seed.endUser, log)) ??
    (await seedOnce(admin, seed.admin, log)) ??
    (await addMissing(admin.store, seed.agents, log)) ??
    (await addMembers(admin.store, seed.members, log))
  )
}

/** The root document comes last: while it is not there, the first start is not over. */
async function seedOnce({ base, store }: Application, graphs: SeedGraphs, log: Log): Promise<undefined | Problem> {
  const root = await store.read(base)
  if (isProblem(root)) return root
  return root === undefined ? addMissing(store, graphs, log) : undefined
}

async function addMissing(store: GraphStore, graphs: SeedGraphs, log: Log): Promise<undefined | Problem> {
  for (const [graph, triples] of graphs) {
    const there = await store.read(graph)
    if (isProblem(there)) return there
    if (there !== undefined) continue
    const failed = await store.replace(graph, nTriplesOf(graphOf(triples)))
    if (failed) return failed
    log.info({ graph }, 'seeded')
  }
  return undefined
}

/** Whoever holds the certificates of this installation keeps the rights that come with them. */
async function addMembers(
  store: GraphStore,
  members: readonly { graph: string; triple: Quad }[],
  log: Log,
): Promise<undefined | Problem> {
  for (const { graph, triple } of members) {
    const there = await store.read(graph)
    if (isProblem(there)) return there
    const triples = readNTriples(there ?? '')
    if (!triples) return problem('store.failed', `The triplestore's answer for ${graph} is not N-Triples.`)
    const next = graphOf([...triples, triple])
    if (next.lines.length === triples.length) continue
    const failed = await store.replace(graph, nTriplesOf(next))
    if (failed) return failed
    log.warn({ graph, member: triple.object.value }, 'added a member that was missing')
  }
  return undefined
}
