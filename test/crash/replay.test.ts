// The oracle of the crash test: it finds missing commits, extra commits, and commits that differ from what was written.
import t from 'tap'
import { ACL, DCT, DH, RDF, SIOC, XSD } from '../../gateway/rdf/vocabulary.js'
import { makeUlids } from '../../versioning/journal/ulid.js'
import { faultsOf, type Committed } from './replay.js'
import { lastLine, linesOf, type Write } from './writers.js'

const DOCUMENT = 'https://localhost/d/'
const [ANN, BEN] = ['https://localhost/ann#this', 'https://localhost/ben#this']
const TIME = Date.UTC(2026, 10, 20, 12)

const write = (n: number, agent: string, method: Write['method'], more: Partial<Write> = {}): Write => {
  const [sent, ended] = [TIME + 100 * n, TIME + 100 * n + 90]
  return { mark: `w${n}`, agent, method, document: DOCUMENT, sent, ended, outcome: 'done', status: 200, ...more }
}
const WRITES = [write(1, ANN, 'PUT'), write(2, BEN, 'POST'), write(3, ANN, 'PATCH'), write(4, BEN, 'DELETE')]

const dated = (property: string, n: number): string =>
  `<${DOCUMENT}> <${property}> "${new Date(TIME + n).toISOString()}"^^<${XSD('dateTime')}> .`
const contentOf = (own: readonly string[], modified?: number): string =>
  [
    ...own,
    `<${DOCUMENT}> <${RDF('type')}> <${DH('Item')}> .`,
    `<${DOCUMENT}> <${SIOC('has_container')}> <https://localhost/> .`,
    ...[DCT('creator'), ACL('owner')].map((property) => `<${DOCUMENT}> <${property}> <${ANN}> .`),
    dated(DCT('created'), 150),
    ...(modified === undefined ? [] : [dated(DCT('modified'), modified)]),
  ]
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map((line) => `${line}\n`)
    .join('')

const [put, post, patch] = WRITES as [Write, Write, Write]
const CONTENTS = [
  contentOf(linesOf(put)),
  contentOf([...linesOf(put), ...linesOf(post)], 250),
  contentOf([...linesOf(put), ...linesOf(post), lastLine(patch)], 350),
  undefined,
]
const COMMITS = WRITES.map(({ agent, method, document, sent }, n): Committed => {
  const journalId = makeUlids(() => sent + 10)()
  const common = { commit: String(n).repeat(40), author: agent, agent, method, document, journalId }
  return { ...common, paths: ['d.nt'], content: CONTENTS[n] }
})
const changed = (n: number, more: Partial<Committed>): Committed[] =>
  COMMITS.map((commit, i) => (i === n ? { ...commit, ...more } : commit))

type Row = readonly [what: string, commits: readonly Committed[], writes: readonly Write[], fault: RegExp | undefined]
const unknown = (n: number): readonly Write[] => changedWrite(n, { outcome: 'unknown' })
const again = { ...COMMITS[3]!, journalId: makeUlids(() => TIME + 450)() }
const unsent = [...WRITES.slice(0, 3), write(9, BEN, 'PUT', { outcome: 'unknown' })]
const unsorted = CONTENTS[0]!.split('\n').reverse().join('\n')

// prettier-ignore
const ROWS: readonly Row[] = [
  ['each write is a commit', COMMITS, WRITES, undefined],
  ['a write without a response may be a commit', COMMITS, unknown(3), undefined],
  ['a write without a response may be missing', COMMITS.slice(0, 3), unknown(3), undefined],
  ['the last commit is missing', COMMITS.slice(0, 3), WRITES, /w4 .* no commit/],
  ['a commit in between is missing', COMMITS.filter((_, n) => n !== 1), WRITES, /w2 .* no commit/],
  ['a commit occurs twice', [...COMMITS.slice(0, 1), ...COMMITS], WRITES, /Journal-Id .* twice/],
  ['a write is committed twice', [...COMMITS, again], WRITES, /w4 is .* twice/],
  ['a commit that no agent sent', COMMITS, unsent, /no agent sent/],
  ['a commit of a refused write', COMMITS, changedWrite(3, { outcome: 'refused' }), /refused/],
  ['a commit of another agent', changed(2, { author: BEN, agent: BEN }), WRITES, /no agent sent/],
  ['a commit with another author', changed(2, { author: BEN }), WRITES, /its author/],
  ['a commit with another method', changed(1, { method: 'PUT' }), WRITES, /no agent sent/],
  ['commits in another order', [COMMITS[0]!, COMMITS[2]!, COMMITS[1]!], WRITES.slice(0, 3), /w2 comes after w3/],
  ['a commit with other bytes', changed(1, { content: CONTENTS[1]!.replace('w2', 'w7') }), WRITES, /should be/],
  ['a commit whose lines are not sorted', changed(0, { content: unsorted }), WRITES, /should be/],
  ['a commit with a later state', changed(1, { content: CONTENTS[2] }), WRITES, /should be/],
  ['a deletion that leaves the document', changed(3, { content: CONTENTS[2] }), WRITES, /still exists/],
  ['dct:modified does not grow', changed(2, { content: CONTENTS[2]!.replace(iso(350), iso(250)) }), WRITES, /modified/],
  ['a commit of another file', changed(1, { paths: ['e.nt'] }), WRITES, /it changes e.nt/],
  ['a commit of two files', changed(1, { paths: ['d.nt', 'e.nt'] }), WRITES, /it changes d.nt,e.nt/],
  ['a commit of no file', changed(1, { paths: [] }), WRITES, /it changes nothing/],
]

function changedWrite(n: number, more: Partial<Write>): readonly Write[] {
  return WRITES.map((write, i) => (i === n ? { ...write, ...more } : write))
}
function iso(n: number): string {
  return new Date(TIME + n).toISOString()
}

void t.test('the faults of commits', async (t) => {
  for (const [what, commits, writes, fault] of ROWS) {
    const faults = faultsOf(commits, writes, () => 'd.nt')
    if (fault) t.match(faults.join('\n'), fault, what)
    else t.same(faults, [], what)
  }
})
