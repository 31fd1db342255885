// In charge of what the commands that adopt a store print about its graphs, and of what they ask a person.
import { createInterface } from 'node:readline/promises'
import type { CarriedOut } from '../adoption/carry-out.js'
import type { Plan, Refused } from '../adoption/plan.js'
import { KIND_TEXTS, type Counted, type GraphKind, type Survey } from '../doctor/survey.js'

const WIDTH = 8
/** Of one, and of several. */
type Texts = readonly [one: string, several: string]
const textFor = (count: number, [one, several]: Texts): string => (count === 1 ? one : several)
const counted = (count: number, what: Texts): string => `${String(count).padStart(WIDTH)} ${textFor(count, what)}`
const graphsText = (count: number): string => `${count} ${textFor(count, ['graph', 'graphs'])}`
const LONGEST_NAME = 200
const nameText = (name: string): string => `<${name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name}>`
const examplesOf = (examples: readonly string[]): string[] =>
  examples.map((one) => `${' '.repeat(WIDTH + 3)}${nameText(one)}`)

/** The option of `triplegate adopt` that does something about it. */
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
        'container above documents does not exist; nothing can be created in it until it does',
        'containers above documents do not exist; nothing can be created in them until they do',
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
  'triple in the default graph: SPARQL reaches it',
  'triples in the default graph: SPARQL reaches them',
]

const FIRST = 5
const MOVED: Texts = [
  'graph gets another name, and so do the references to it',
  'graphs get other names, and so do the references to them',
]
const MADE: Texts = ['container is made', 'containers are made']
const TYPED: Texts = ['document gets the type of an item', 'documents get the type of an item']

/** The work that would be done. Ends with a line end. */
export function planText({ moves, typed, refused }: Plan): string {
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

/** The work that was done. Ends with a line end. */
export function outcomeText({ counts, refused }: CarriedOut): string {
  const { names, references, containers, types } = counts
  return `Done: ${graphsText(names)} renamed, references changed in ${graphsText(references)}, ${containers} ${textFor(containers, ['container', 'containers'])} made, ${types} ${textFor(types, ['type', 'types'])} given.\n${refusedText(refused)}`
}

const MOST = 20

function refusedText(refused: readonly Refused[]): string {
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

/** Asks until the answer is one of these; none is the usual one. Undefined where the person leaves (Ctrl-C, Ctrl-D). */
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
