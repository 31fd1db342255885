// Measuring one access decision, and the memory of the index, from 100 to 1,000,000 authorizations.
import type { Fact } from '../../policies/authorizations/authorization.js'
import { makeAuthorizationIndex, type AuthorizationIndex } from '../../policies/authorizations/authorization-index.js'
import { decide, type Question } from '../../policies/decide.js'
import {
  ADMIN,
  authorization,
  BASE,
  CONTAINER,
  document,
  EVERYONE,
  fact,
  ITEM,
  MEMBER,
  question,
  SUB_CLASS_OF,
  type Statements,
  replaceGraph,
} from '../policies/access-facts.js'
import { heapInUse, nanosecondsPerCall, type BenchTable, type Figure } from './bench-table.js'

const SIZES = [100, 10_000, 1_000_000]
const AGENT = 'https://people.example/alice/#me'
const STRANGER = 'https://people.example/mallory/#me'
const GROUPS_OF_AGENT = 8
const DOCUMENTS = 64
const MANY_DOCUMENTS = 1024

const docOf = (n: number): string => `${BASE}projects/${n % 997}/reports/${n}/`
const containerOf = (n: number): string => `${BASE}projects/${n % 997}/archive-${n}/`
const groupOf = (n: number): string => `${ADMIN}acl/groups/${n}/#this`
const personOf = (n: number): string => `https://people.example/${n}/#me`

/** Every eighth one names the agent of the request; the others are for groups, everyone and containers. */
const KINDS: readonly ((n: number, groups: number) => Statements)[] = [
  (n) => ({ agent: AGENT, accessTo: docOf(n), mode: ['Read', 'Write'] }),
  (n) => ({ agent: personOf(n), accessTo: docOf(n - 1), mode: ['Read', 'Write', 'Append'] }),
  (n) => ({ agent: [personOf(n), personOf(n + 1)], accessTo: docOf(n), mode: 'Read' }),
  (n) => ({ agentClass: EVERYONE, accessTo: docOf(n), mode: 'Read' }),
  (n, groups) => ({
    agentGroup: groupOf((n >> 3) % groups),
    accessToClass: `urn:class:${(n >> 3) % 7}`,
    mode: ['Read', 'Append'],
  }),
  (n, groups) => ({ agentGroup: groupOf((n >> 3) % groups), accessToClass: ITEM, mode: 'Read' }),
  (n, groups) => ({ agentGroup: groupOf((n >> 3) % groups), default: containerOf(n), mode: ['Read', 'Write'] }),
  (n) => ({ agent: AGENT, default: containerOf(n), mode: ['Read', 'Write', 'Append'] }),
]

function* graphsOf(size: number): Generator<readonly [graph: string, facts: Fact[]]> {
  const groups = Math.max(GROUPS_OF_AGENT, size / 50)
  for (let n = 0; n < size; n++) {
    const graph = `${ADMIN}acl/authorizations/${n}/`
    yield [graph, authorization(`${graph}#this`, KINDS[n % KINDS.length]!(n, groups))]
  }
  for (let n = 0; n < groups; n++) {
    const members = Array.from({ length: 20 }, (_, m) => personOf(n * 20 + m))
    if (n % (groups / GROUPS_OF_AGENT) === 0) members.push(AGENT)
    yield [`${ADMIN}acl/groups/${n}/`, members.map((member) => fact(groupOf(n), MEMBER, member))]
  }
  yield [
    `${ADMIN}ontologies/namespace/`,
    [fact('urn:Report', SUB_CLASS_OF, 'urn:class:0'), fact('urn:class:0', SUB_CLASS_OF, 'urn:class:1')],
  ]
}

/** Questions of each kind, about this many documents, spread over the whole index. */
function questionsOf(size: number, documents: number): Record<string, readonly Question[]> {
  const spread = (kind: number, ask: (n: number) => Question): Question[] =>
    Array.from({ length: documents }, (_, i) => {
      const n = Math.floor((i * (size - KINDS.length + 1)) / documents)
      return ask(n - (n % KINDS.length) + kind)
    })
  const types = [ITEM, 'urn:Report']
  const untyped = { types: ['urn:Other'] }
  return {
    'allowed, agent': spread(0, (n) => question(AGENT, 'Write', document(docOf(n), { types }))),
    'allowed, group and class': spread(1, (n) => question(AGENT, 'Append', document(`${docOf(n)}new/`, { types }))),
    'allowed, public': spread(3, (n) => question(undefined, 'Read', document(docOf(n), { types }))),
    'allowed, container above': spread(7, (n) => question(AGENT, 'Append', document(`${containerOf(n)}a/b/`, untyped))),
    'refused, on its types': spread(2, (n) => question(STRANGER, 'Write', document(docOf(n), { types }))),
    'refused, not named': spread(2, (n) => question(AGENT, 'Write', document(docOf(n), untyped))),
    'refused, create': spread(2, (n) =>
      question(
        AGENT,
        'Write',
        document(`${docOf(n)}new/`, { exists: false }),
        document(docOf(n), { types: [CONTAINER] }),
      ),
    ),
  }
}

function build(size: number): { readonly index: AuthorizationIndex; readonly note: string } {
  const before = heapInUse()
  const start = performance.now()
  const index = makeAuthorizationIndex(ADMIN)
  for (const [graph, facts] of graphsOf(size)) replaceGraph(index, graph, facts)
  const took = performance.now() - start
  const heap = heapInUse() - before
  const note =
    `${size.toLocaleString('en')} authorizations: heap ${(heap / 1e6).toFixed(1)} MB, ` +
    `${Math.round(heap / size)} bytes each, made and compiled in ${Math.round(took)} ms`
  return { index, note }
}

/** Undefined if the authorizations name fewer documents. */
function allQuestions(size: number): Record<string, readonly Question[] | undefined> {
  const many = size < KINDS.length * MANY_DOCUMENTS ? {} : questionsOf(size, MANY_DOCUMENTS)
  return {
    ...questionsOf(size, DOCUMENTS),
    // More than fits into the caches of the processor, so that the cost of memory shows.
    [`allowed, agent, ${MANY_DOCUMENTS} documents`]: many['allowed, agent'],
    [`refused, not named, ${MANY_DOCUMENTS} documents`]: many['refused, not named'],
  }
}

/** Decisions of each kind per size, and the heap that the index holds. Needs `--expose-gc`. */
export function benchAccess(): Promise<BenchTable> {
  const built = SIZES.map((size) => ({ ...build(size), questions: allQuestions(size) }))
  const rows = Object.keys(built[0]!.questions).map((name) => {
    const deciding = built.flatMap(({ index, questions }) => {
      const its = questions[name]
      if (!its) return []
      for (const each of its) {
        if (decide(index, each).allowed !== name.startsWith('allowed')) throw new Error(`not ${name}`)
      }
      return [(n: number) => void decide(index, its[n % its.length]!)]
    })
    const figures = nanosecondsPerCall(deciding)
    const missing = Array<string>(built.length - figures.length).fill('–')
    return [name, ...missing, ...figures.map(microseconds), (figures.at(-1)!.median / figures[0]!.median).toFixed(2)]
  })
  return Promise.resolve({
    title:
      `One access decision, over ${DOCUMENTS} documents: µs, median (least–most of 11 rounds), ` +
      'by number of authorizations',
    columns: ['decision', ...SIZES.map((size) => size.toLocaleString('en')), 'largest/smallest'],
    rows,
    notes: [...built.map(({ note }) => note), `–: ${SIZES[0]} authorizations do not name ${MANY_DOCUMENTS} documents`],
  })
}

const microseconds = ({ median, least, most }: Figure): string =>
  `${(median / 1e3).toFixed(2)} (${(least / 1e3).toFixed(2)}–${(most / 1e3).toFixed(2)})`
