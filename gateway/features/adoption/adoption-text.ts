// The output of the commands that adopt a store: reports about its graphs, and questions to the person.
import { createInterface } from 'node:readline/promises'
import type { CarriedOut } from './carry-out.js'
import type { CountedReferences } from './look-through.js'
import type { AdoptionPlan, RefusedMove, RulesAbout } from './plan.js'
import type { TakenBack } from './take-back.js'
import type { UndoneChange } from './undo-file.js'
import { DEFAULT_GRAPH } from '../../sparql/language/graph-sets.js'
import { KIND_TEXTS, type Counted, type GraphKind, type Survey } from '../../survey/survey.js'

const WIDTH = 8
/** The singular and the plural. */
type Texts = readonly [one: string, several: string]
const textFor = (count: number, [one, several]: Texts): string => (count === 1 ? one : several)
const counted = (count: number, what: Texts): string => `${String(count).padStart(WIDTH)} ${textFor(count, what)}`
const graphsText = (count: number): string => `${count} ${textFor(count, ['graph', 'graphs'])}`
const LONGEST_NAME = 200
const cut = (text: string): string => (text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME)}…` : text)
const nameText = (name: string): string => (name === DEFAULT_GRAPH ? 'the default graph' : `<${cut(name)}>`)
const examplesOf = (examples: readonly string[]): string[] =>
  examples.map((one) => `${' '.repeat(WIDTH + 3)}${nameText(one)}`)

/** The option of `triplegate adopt` that fixes the problem. */
const REMEDIES: Partial<Record<GraphKind, string>> = {
  'without-slash': '--names',
  'other-scheme': '--names',
  'other-spelling': '--names',
  'other-names': '--rename FROM=TO',
  elsewhere: '--rename FROM=TO',
}

/** Ends with a line end. */
export function surveyText(survey: Survey, base: string): string {
  const { triples, kinds, missingContainers, untyped, defaultTriples } = survey
  const section = ({ count, examples }: Counted, what: Texts, remedy?: string): string[] =>
    count === 0 ? [] : [counted(count, what) + (remedy ? ` (adopt ${remedy})` : ''), ...examplesOf(examples)]
  const graphs = [...kinds].flatMap(([kind, found]) => section(found, KIND_TEXTS[kind], REMEDIES[kind]))
  return [
    `${graphsText([...kinds.values()].reduce((sum, { count }) => sum + count, 0))} with ${counted(triples, TRIPLES).trim()}; by their names, with the base ${base}:`,
    ...graphs,
    ...section(
      missingContainers,
      [
        'container of existing documents is missing; nothing can be created in it',
        'containers of existing documents are missing; nothing can be created in them',
      ],
      '--containers',
    ),
    ...section(
      untyped,
      ['document has no type: it counts as an item', 'documents have no type: they count as items'],
      '--types',
    ),
    ...(defaultTriples > 0 ? [counted(defaultTriples, IN_DEFAULT)] : []),
    '',
  ].join('\n')
}

const TRIPLES: Texts = ['triple', 'triples']
const IN_DEFAULT: Texts = [
  'triple in the default graph, available by SPARQL',
  'triples in the default graph, available by SPARQL',
]

const FIRST = 5
const MOVED: Texts = ['graph is renamed', 'graphs are renamed']
const MADE: Texts = ['container is created', 'containers are created']
const TYPED: Texts = ['document gets the type of an item', 'documents get the type of an item']

/** The planned work. Ends with a line end. */
export function planText({ moves, typed, refused }: AdoptionPlan): string {
  const first = [...moves.values()].slice(0, FIRST).map(({ from, to }) => `${nameText(from)} → ${nameText(to)}`)
  const containers = typed.filter(({ isContainer }) => isContainer)
  const items = typed.filter(({ isContainer }) => !isContainer)
  const lines = [
    ...(moves.size > 0 ? [counted(moves.size, MOVED)] : []),
    ...first.map((line) => `${' '.repeat(WIDTH + 3)}${line}`),
    ...(containers.length > 0 ? [counted(containers.length, MADE)] : []),
    ...examplesOf(containers.slice(0, FIRST).map(({ document }) => document)),
    ...(items.length > 0 ? [counted(items.length, TYPED)] : []),
    ...examplesOf(items.slice(0, FIRST).map(({ document }) => document)),
  ]
  return `${(lines.length > 0 ? lines : ['Nothing to do.']).join('\n')}\n${refusedText(refused)}`
}

const TERMS: Texts = [
  'IRI is not changed: it is a predicate or a class (--vocabulary changes it too)',
  'IRIs are not changed: they are predicates or classes (--vocabulary changes them too)',
]

/** The references that would change. @param terms the number that stay. Ends with a line end. */
export function referencesText({ triples, graphs, most, refused }: CountedReferences, terms: number): string {
  const what: Texts = [`triple changes, in ${graphsText(graphs)}`, `triples change, in ${graphsText(graphs)}`]
  const lines = [
    counted(triples, what),
    ...most.flatMap(({ graph, count, examples: [example] }) => [
      `${counted(count, ['in', 'in'])} ${nameText(graph)}, such as`,
      `${' '.repeat(WIDTH + 5)}${example === undefined ? '' : cut(example)}`,
    ]),
    ...(most.length < graphs ? [`${' '.repeat(WIDTH + 1)}…`] : []),
    ...(terms > 0 ? [counted(terms, TERMS)] : []),
  ]
  return `${lines.join('\n')}\n${refusedText(refused)}`
}

/** The references that stay unchanged. Ends with a line end. */
export function rulesText({ count, examples }: RulesAbout): string {
  const what: Texts = ['rule names one of them by its old name', 'rules name them by their old names']
  const rules = count === 0 ? [] : [counted(count, what), ...examplesOf(examples)]
  return [...rules, 'References to them stay, even in rules. --references counts and changes them.', ''].join('\n')
}

/** The completed work. Ends with a line end. */
export function adoptionText({ counts, refused }: CarriedOut, undo: string): string {
  const { names, references, containers, types } = counts
  const what = `${graphsText(names)} renamed, references changed in ${graphsText(references)}, ${containersText(containers)} created, ${types} ${textFor(types, ['type', 'types'])} given`
  return `Done: ${what}.\n${refusedText(refused)}Undo it with: triplegate adopt --undo ${undo}\n`
}

/** The changes to be undone. Ends with a line end. */
export function undoText(changes: readonly UndoneChange[], isUndone: boolean): string {
  if (isUndone) return 'Nothing to do: the changes are already undone.\n'
  const of = (kind: UndoneChange['kind']): number => changes.filter((change) => change.kind === kind).length
  const types = of('type')
  const stay = types === 0 ? '' : `${counted(types, ['type of a document stays', 'types of documents stay'])}\n`
  return `${counted(of('name'), ['graph gets its old name', 'graphs get their old names'])}
${counted(of('references'), ['graph gets its old references', 'graphs get their old references'])}
${counted(of('container'), ['container is deleted if nothing is in it', 'containers are deleted if nothing is in them'])}\n${stay}`
}

/** Ends with a line end. */
export const takenBackText = ({ names, references, containers, refused }: TakenBack): string =>
  `Undone: ${graphsText(names)} with their old names, old references in ${graphsText(references)}, ${containersText(containers)} deleted.\n${refusedText(refused)}`

const containersText = (count: number): string => `${count} ${textFor(count, ['container', 'containers'])}`

const MOST = 20

function refusedText(refused: readonly RefusedMove[]): string {
  if (refused.length === 0) return ''
  const lines = refused.slice(0, MOST).map(({ graph, why }) => `  ${nameText(graph)}: ${why}`)
  return `Not done: ${refused.length}.\n${lines.join('\n')}\n${refused.length > MOST ? '  …\n' : ''}`
}

/** Asks the person at the terminal. */
export async function confirmed(question: string): Promise<boolean> {
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await asking.question(`${question} [y/N] `).catch(() => '')
  asking.close()
  return /^y(?:es)?$/i.test(answer.trim())
}

/** Asks until the answer is one of these; Enter selects the default. Undefined after Ctrl-C or Ctrl-D. */
export async function answered(
  question: string,
  answers: ReadonlySet<string>,
  usual: string,
): Promise<string | undefined> {
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  const ask = () => asking.question(`${question} [${usual}] `).catch(() => undefined)
  let answer: string | undefined
  do answer = await ask()
  while (answer !== undefined && !answers.has(wordOf(answer, usual)))
  asking.close()
  return answer === undefined ? undefined : wordOf(answer, usual)
}

const wordOf = (answer: string, usual: string): string => answer.trim().toLowerCase() || usual
