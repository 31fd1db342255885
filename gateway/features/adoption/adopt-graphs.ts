// A run of `triplegate adopt`: finds the graphs, shows the plan, and carries it out.
import type { AllEndpointNames } from '../../feature.js'
import { carryOutAdoption } from './carry-out.js'
import { countReferences, type AdoptedMember, type Searched } from './look-through.js'
import { isNothing, adoptionPlanOf, rulesAbout, type Adopting, type AdoptionPlan } from './plan.js'
import { referencesOfDefault, type Sought } from './references.js'
import type { Renames } from './renames.js'
import { openUndoFile } from './undo-file.js'
import { vocabularyTerms } from './vocabulary-terms.js'
import type { Arguments } from '../../configuration/flags.js'
import type { EndpointNames } from '../../documents/endpoint-names.js'
import type { Names } from '../../documents/iri-spelling.js'
import { DEFAULT_GRAPH } from '../../sparql/language/graph-sets.js'
import { surveyOf } from '../../survey/survey.js'
import { isFailure, type Problem } from '../../problem.js'
import { eachGraph } from '../../stores/graph-names.js'
import { select } from '../../stores/select.js'
import { endpointsAt, storeThrough, writingThrough } from './adopt-gateway.js'
import { confirmed, adoptionText, planText, referencesText, rulesText, surveyText } from './adoption-text.js'
import { EXIT, type CommandFailure } from '../../commands/exit-codes.js'
import type { GatewayClient } from '../../commands/gateway-client.js'
import { barText, fail, makeProgress, printable, shellWord, type Terminal } from '../../commands/terminal.js'

export interface Addresses extends Omit<Adopting, 'endpoints'> {
  readonly admin: string
  readonly names: Names
}

export interface AskedAdoption extends Addresses {
  readonly client: GatewayClient
  readonly adminClient: GatewayClient
  readonly renames: Renames | undefined
  readonly given: Arguments
  readonly endpointNames: AllEndpointNames
}

/** Returns the exit code. */
export async function adopt(asked: AskedAdoption, terminal: Terminal): Promise<number> {
  const { base, admin, names, isDocument, renames, client, adminClient, given } = asked
  const { values } = given
  const { out, waiting } = terminal
  waiting('asking the gateway …')
  const endpoints = await endpointsAt(client, [base, admin], await asked.endpointNames())
  if (isFailure(endpoints)) return fail(terminal, endpoints)
  const member: AdoptedMember = { base, store: storeThrough(client) }
  const survey = await surveyOf(member.store, { base, names, endpoints })
  waiting(undefined)
  if (isFailure(survey)) return fail(terminal, asFailure(survey))
  out(printable(surveyText(survey, base)))
  const [containers, types] = [values.has('containers'), values.has('types')]
  if (!renames && !containers && !types) return EXIT.done
  const plan = await adoptionPlanOf(member.store, { base, isDocument, endpoints }, { renames, containers, types })
  if (isFailure(plan)) return fail(terminal, asFailure(plan))
  out(printable(planText(plan)))
  const rules: AdoptedMember = { base: admin, store: storeThrough(adminClient) }
  const isSearching = values.has('references') && plan.moves.size > 0
  const search = isSearching ? await searchIn(asked, plan, { endpoints, member, rules }, terminal) : undefined
  if (isFailure(search)) return fail(terminal, asFailure(search))
  const refused = search
    ? await reportReferences(search, terminal)
    : await reportRules(plan, rules, endpoints, terminal)
  if (isFailure(refused)) return fail(terminal, asFailure(refused))
  const isRefused = plan.refused.length + refused > 0
  if (values.has('dry-run') || isNothing(plan)) return isRefused ? EXIT.findings : EXIT.done
  if (!(await isWanted(asked, terminal))) return EXIT.done
  const undo = openUndoFile(client.connection.data, { base, admin, asked: optionsOf(asked) }, terminal.now())
  if (isFailure(undo)) return fail(terminal, undo)
  const show = makeProgress(terminal)
  const carried = await carryOutAdoption(plan, {
    member,
    search,
    undo,
    writing: writingThrough({ [base]: client, [admin]: adminClient }, client),
    report: (what, documents, of) => show(() => barText(`adopt: ${what}`, { documents, of })),
  })
  waiting(undefined)
  if (isFailure(carried)) {
    return fail(terminal, asFailure({ detail: `${carried.detail}\nRun the same command again to continue, or undo the changes with --undo ${shellWord(undo.file)}.` })) // prettier-ignore
  }
  out(printable(adoptionText(carried, `${shellWord(undo.file)} --data ${shellWord(client.connection.data)}`)))
  return carried.refused.length > 0 ? EXIT.findings : EXIT.done
}

const asFailure = ({ detail }: { readonly detail: string }): CommandFailure => ({ failure: 'gateway.failed', detail })

/** Runs with the same options continue one another. */
const optionsOf = ({ given: { values } }: AskedAdoption): string =>
  ['names', 'references', 'vocabulary', 'containers', 'types']
    .filter((name) => values.has(name))
    .concat(values.get('rename') ?? [])
    .join(' ')

/** True if the person confirms, or --yes is given; otherwise prints what to do. */
export async function isWanted({ given: { values } }: AskedAdoption, { out, interactive }: Terminal): Promise<boolean> {
  if (values.has('yes') || (interactive && (await confirmed('Do it?')))) return true
  out('Nothing is written. With --yes, triplegate adopt does it.\n')
  return false
}

interface Search {
  readonly sought: Sought
  readonly members: readonly Searched[]
}

interface Places {
  readonly endpoints: EndpointNames
  /** The application whose graphs are renamed. */
  readonly member: AdoptedMember
  /** The admin application. */
  readonly rules: AdoptedMember
}

/** The references to change, and the graphs to search. */
async function searchIn(
  { renames, given }: AskedAdoption,
  { graphs, moves }: AdoptionPlan,
  { endpoints, member, rules }: Places,
  terminal: Terminal,
): Promise<Search | Problem> {
  const ofRules: string[] = []
  const failed = await eachGraph(rules.store, {}, (graph) => void ofRules.push(graph))
  if (failed) return failed
  const members: Searched[] = []
  const sought = { moves, beginnings: renames?.beginnings ?? [], endpoints }
  for (const one of [
    { ...member, graphs },
    { ...rules, graphs: ofRules },
  ]) {
    const rows = await select(one.store, referencesOfDefault(sought.beginnings), ['s'], {})
    if (isFailure(rows)) return rows
    members.push(rows.length > 0 ? { ...one, graphs: [...one.graphs, DEFAULT_GRAPH] } : one)
  }
  if (given.values.has('vocabulary')) return { members, sought: { ...sought, terms: new Set() } }
  const show = makeProgress(terminal)
  const terms = await vocabularyTerms(members, sought, (documents, of) =>
    show(() => barText('looking for predicates and classes', { documents, of })),
  )
  terminal.waiting(undefined)
  return isFailure(terms) ? terms : { members, sought: { ...sought, terms } }
}

/** The number of graphs whose references cannot be changed. */
async function reportReferences({ sought, members }: Search, terminal: Terminal): Promise<number | Problem> {
  const show = makeProgress(terminal)
  const counted = await countReferences(members, sought, (documents, of) =>
    show(() => barText('looking for references', { documents, of })),
  )
  terminal.waiting(undefined)
  if (isFailure(counted)) return counted
  terminal.out(printable(referencesText(counted, sought.terms.size)))
  return counted.refused.length
}

async function reportRules(
  plan: AdoptionPlan,
  { store }: AdoptedMember,
  endpoints: EndpointNames,
  terminal: Terminal,
): Promise<number | Problem> {
  if (plan.moves.size === 0) return 0
  const rules = await rulesAbout(store, plan.moves, endpoints)
  if (isFailure(rules)) return rules
  terminal.out(printable(rulesText(rules)))
  return 0
}
