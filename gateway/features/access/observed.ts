// `triplegate access observed`: reads from the log what the rules would have refused while they were not enforced, and
// prints authorizations that would allow it.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { CONTAINER, DEFAULT_GRAPH, EVERY_GRAPH, ITEM, OTHER_GRAPH, ROOT } from '../../../policies/vocabulary.js'
import { EVERYONE_CLASS } from '../../agents/authorization-triples.js'
import { TURTLE } from '../../http/media-type.js'
import { isFailure } from '../../problem.js'
import { graphOf, iri, text, triple, type Quad } from '../../rdf/graph.js'
import { ACL, RDF, RDFS } from '../../rdf/vocabulary.js'
import { writeGraph } from '../../rdf/write.js'
import { argumentsOf, HELP_OPTION, wrongArguments, type CommandDescription } from '../../commands/arguments.js'
import { EXIT } from '../../commands/exit-codes.js'
import { fail, printable, type Terminal } from '../../commands/terminal.js'

export const OBSERVED_FORM = ['access observed FILE', 'summarise from the log what --enforce=false let pass'] as const

const DESCRIPTION: CommandDescription = {
  name: 'access observed',
  forms: [OBSERVED_FORM],
  notes: [
    'FILE is the log of the gateway as JSON, one object a line; - is standard input.',
    'The Turtle is a document of authorizations: PUT it under acl/authorizations/ of the admin application.',
  ],
  options: [
    { name: 'turtle', value: '', bare: true, help: 'print the authorizations that would let all of it pass' },
    HELP_OPTION,
  ],
  exits: ['done', 'usage', 'failed'],
}

/** Requests of one agent that lacked one mode on one document, container or endpoint. */
export interface Observed {
  /** Undefined: anonymous clients. */
  readonly agent: string | undefined
  readonly mode: string
  readonly on: string
  readonly count: number
  /** In ms. */
  readonly last: number
}

/** Returns the exit code. */
export async function runObserved(argv: readonly string[], terminal: Terminal): Promise<number> {
  const given = argumentsOf(argv, DESCRIPTION)
  if ('help' in given) {
    terminal.out(given.help)
    return EXIT.done
  }
  const [file, ...more] = given.positionals
  if (given.faults.length > 0) return fail(terminal, wrongArguments(...given.faults))
  if (file === undefined || more.length > 0) {
    return fail(terminal, wrongArguments('write triplegate access observed FILE. FILE is a JSON log of the gateway.'))
  }
  const found = await observedIn(
    createInterface({ input: file === '-' ? process.stdin : createReadStream(file) }),
  ).catch(
    (error: Error) => ({ failure: 'gateway.failed', detail: `${file} cannot be read: ${error.message}.` }) as const,
  )
  if (isFailure(found)) return fail(terminal, found)
  if (found.lines > 0 && found.objects === 0) {
    const detail = `${file} has no JSON lines. Start the gateway with --log-format json, and give that log.`
    return fail(terminal, { failure: 'gateway.failed', detail })
  }
  terminal.out(printable(given.values.has('turtle') ? authorizationsFor(found.observed) : observedText(found.observed)))
  return EXIT.done
}

/** The most distinct entries: further ones are not counted. */
const MOST = 100_000

/** @param lines of the log; lines that are not JSON objects are ignored */
export async function observedIn(
  lines: AsyncIterable<string>,
): Promise<{ readonly lines: number; readonly objects: number; readonly observed: readonly Observed[] }> {
  const all = new Map<string, Observed>()
  let [read, objects] = [0, 0]
  for await (const line of lines) {
    if (line.trim() !== '') read++
    const entry = entryOf(line)
    if (!entry) continue
    objects++
    const { msg, agent, time, decision } = entry
    if (msg !== 'would have been refused' || !decision?.required || !decision.on) continue
    const key = JSON.stringify([agent, decision.required, decision.on])
    const before = all.get(key)
    if (!before && all.size >= MOST) continue
    const [mode, on] = [decision.required, decision.on]
    all.set(key, { agent, mode, on, count: (before?.count ?? 0) + 1, last: Math.max(before?.last ?? 0, time ?? 0) })
  }
  const observed = [...all.values()].sort((a, b) => b.count - a.count || (a.on < b.on ? -1 : 1))
  return { lines: read, objects, observed }
}

interface Entry {
  readonly msg?: string
  readonly agent?: string
  readonly time?: number
  readonly decision?: { readonly required?: string; readonly on?: string }
}

function entryOf(line: string): Entry | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    return JSON.parse(line) as Entry
  } catch {
    return undefined
  }
}

function observedText(observed: readonly Observed[]): string {
  if (observed.length === 0) return 'Nothing would have been refused.\n'
  const rows = observed.map(({ count, mode, on, agent, last }) => [
    String(count),
    new Date(last).toISOString().slice(0, 19) + 'Z',
    mode,
    on,
    agent ?? 'anonymous clients',
  ])
  const table = [['COUNT', 'LAST', 'MODE', 'ON', 'AGENT'], ...rows]
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
  const line = (row: readonly string[]): string => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')
  return `${table.map((row) => line(row).trimEnd()).join('\n')}\n`
}

/** The modes that an agent needs on one target. */
interface Need {
  readonly agent: string | undefined
  readonly on: string
  readonly modes: string[]
}

const MODES = ['Read', 'Append', 'Write', 'Control']

/** One authorization for each agent and set of modes. */
export function authorizationsFor(observed: readonly Observed[]): string {
  const needs = new Map<string, Need>()
  for (const { agent, mode, on } of observed) {
    const key = JSON.stringify([agent, on])
    const need = needs.get(key) ?? { agent, on, modes: [] }
    need.modes.push(mode)
    needs.set(key, need)
  }
  const grouped = new Map<string, Need[]>()
  for (const need of needs.values()) {
    const key = JSON.stringify([need.agent, [...need.modes].sort()])
    const group = grouped.get(key)
    if (group) group.push(need)
    else grouped.set(key, [need])
  }
  const triples = [...grouped.values()].flatMap((group, i) => {
    const { agent, modes } = group[0]!
    const name = `#observed-${i + 1}`
    return [
      triple(name, RDF('type'), iri(ACL('Authorization'))),
      triple(name, RDFS('label'), text(`What ${agent ?? 'everyone'} did while the rules were not enforced`)),
      ...MODES.filter((mode) => modes.includes(mode)).map((mode) => triple(name, ACL('mode'), iri(ACL(mode)))),
      agent === undefined
        ? triple(name, ACL('agentClass'), iri(EVERYONE_CLASS))
        : triple(name, ACL('agent'), iri(agent)),
      ...group.flatMap(({ on }) => (on === EVERY_GRAPH ? everyGraph(name) : [triple(name, ACL('accessTo'), iri(on))])),
    ] satisfies Quad[]
  })
  return writeGraph(graphOf(triples), TURTLE) as string
}

const everyGraph = (name: string): Quad[] => [
  ...[ROOT, CONTAINER, ITEM, OTHER_GRAPH].map((type) => triple(name, ACL('accessToClass'), iri(type))),
  triple(name, ACL('accessTo'), iri(DEFAULT_GRAPH)),
]
