// Writes the seed (seed.ts): once in the life of a dataspace (seeded.ts), and never over existing documents.
import type { NewChange } from '../../versioning/history.js'
import { agentDocuments } from '../agents/agent-documents.js'
import type { Application, Dataspace } from '../gateway.js'
import { graphOf, nTriplesOf, type Quad } from '../rdf/graph.js'
import type { Log } from '../log.js'
import { isFailure, type Problem } from '../problem.js'
import { readStored } from '../rdf/read.js'
import { select } from '../stores/select.js'
import { seedGraphs, type SeedAgents, type SeedGraphs } from './seed.js'
import { EMBEDDED, type Seeded } from './seeded.js'

export async function seedDataspace(
  dataspace: Dataspace,
  agents: SeedAgents,
  seeded: Seeded,
  log: Log,
): Promise<undefined | Problem> {
  const { endUser, admin } = dataspace
  const seed = seedGraphs({ iri: endUser.iri, endUser, admin }, agents)
  const added = new Set<string>()
  const seeding = { seeded, author: { agent: agents.owner.webId, time: agents.now }, log, added }
  const wasMarked = seeded.of(admin.base) !== undefined
  for (const [application, graphs] of [
    [endUser, seed.endUser],
    [admin, seed.admin],
  ] as const) {
    const first = await seedOnce(application, graphs, seeding)
    if (isFailure(first)) return first
    if (application === endUser) continue
    for (const { webId } of [agents.owner, agents.secretary]) {
      const isKnown = !first && (wasMarked ? seeded.hasAgent(admin.base, webId) : await hasDocument(admin, webId))
      if (isFailure(isKnown)) return isKnown
      const failed = isKnown ? undefined : await addAgent(admin, webId, seed, seeding)
      if (failed) return failed
      seeded.recordAgent(admin.base, webId)
    }
  }
  if (added.size > 0) log.info({ base: endUser.base, documents: added.size }, 'seeded')
  return undefined
}

type Author = Pick<NewChange, 'agent' | 'time'>

interface Seeding {
  readonly seeded: Seeded
  readonly author: Author
  readonly log: Log
  /** The documents that were missing: one line of the log counts them all. */
  readonly added: Set<string>
}

/**
 * True if this was the application's first start, or completed it. Without a mark, any document of the seed proves an
 * earlier start.
 */
async function seedOnce(application: Application, graphs: SeedGraphs, seeding: Seeding): Promise<boolean | Problem> {
  const { base, store, service } = application
  const { seeded, log } = seeding
  const place = service.query ?? EMBEDDED
  const mark = seeded.ofStore(base, place)
  const root = await store.read(base)
  if (isFailure(root)) return root
  // The root comes last in the seed.
  const isMissing = root !== undefined ? false : await isFirstStart(application, graphs, mark)
  if (isFailure(isMissing)) return isMissing
  if (!isMissing && mark !== 'begun') {
    if (root === undefined)
      log.warn({ base }, 'the root document is missing: create it again by PUT, with Control on it')
    seeded.record(base, 'done', place)
    return false
  }
  seeded.record(base, 'begun', place)
  const failed = await addMissing(application, graphs, seeding)
  if (failed) return failed
  seeded.record(base, 'done', place)
  return true
}

/**
 * True if a store without the root was never seeded: a seeded dataspace whose store has no document at all has got
 * another store.
 */
async function isFirstStart(
  { store, base }: Application,
  graphs: SeedGraphs,
  mark: ReturnType<Seeded['of']>,
): Promise<boolean | Problem> {
  if (mark === 'begun') return true
  for (const graph of graphs.keys()) {
    const existing = await store.read(graph)
    if (isFailure(existing)) return existing
    if (existing !== undefined) return false
  }
  if (mark === undefined) return true
  const query = `SELECT ?g WHERE { GRAPH ?g { ?s ?p ?o } FILTER(STRSTARTS(STR(?g), ${JSON.stringify(base)})) } LIMIT 1`
  const found = await select(store, query, ['g'], {})
  return isFailure(found) ? found : found.length === 0
}

/** True if the agent has a document here: it was seeded by a version that had no marks. */
async function hasDocument({ store, base }: Application, webId: string): Promise<boolean | Problem> {
  const documents = agentDocuments(base, webId)
  const existing = documents && (await store.read(documents.agent))
  return isFailure(existing) ? existing : existing !== undefined
}

/** The documents of an agent with a certificate here, and its membership. */
async function addAgent(
  admin: Application,
  webId: string,
  { agents, members }: ReturnType<typeof seedGraphs>,
  seeding: Seeding,
): Promise<undefined | Problem> {
  const documents = agentDocuments(admin.base, webId)
  const own = new Set<string>(documents && Object.values(documents))
  const failed = await addMissing(admin, new Map([...agents].filter(([document]) => own.has(document))), seeding)
  if (failed) return failed
  for (const member of members.filter(({ triple }) => triple.object.value === webId)) {
    const failed = await addMember(admin, member, seeding)
    if (failed) return failed
  }
  return undefined
}

async function addMissing(
  { store, journalled }: Application,
  graphs: SeedGraphs,
  { author, added }: Seeding,
): Promise<undefined | Problem> {
  for (const [graph, triples] of graphs) {
    const existing = await store.read(graph)
    if (isFailure(existing)) return existing
    if (existing !== undefined) continue
    const content = nTriplesOf(graphOf(triples))
    const failed = await journalled.carryOut({ document: graph, method: 'PUT', before: undefined, content, ...author })
    if (failed) return failed
    added.add(graph)
  }
  return undefined
}

async function addMember(
  { store, journalled }: Application,
  { graph, triple }: { graph: string; triple: Quad },
  { author, log }: Seeding,
): Promise<undefined | Problem> {
  const existing = await store.read(graph)
  if (isFailure(existing)) return existing
  const triples = readStored(existing ?? '')
  if (isFailure(triples)) return triples
  const next = graphOf([...triples, triple])
  if (next.lines.length === triples.length) return undefined
  const change = { document: graph, method: 'POST', before: nTriplesOf(graphOf(triples)), content: nTriplesOf(next) }
  const failed = await journalled.carryOut({ ...change, ...author })
  if (failed) return failed
  log.warn({ graph, member: triple.object.value }, 'added a member that was missing')
  return undefined
}
