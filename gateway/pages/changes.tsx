// Shows the differences between two states: added and removed triples, marked by sign and colour, and the differences
// within changed texts.
import type { Child } from 'hono/jsx'
import type { Term } from '../rdf/graph.js'
import { readNTriples } from '../rdf/read.js'
import { NamedTerm, Plain, Value } from './term.js'
import { texts } from './texts.js'

export interface Changed {
  /** N-Triples lines. */
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** How many triples of each kind are shown. */
const MOST = 300

interface Row {
  readonly subject: Term
  readonly predicate: string
  readonly before?: Term
  readonly after?: Term
}

/** A removed and an added value of the same property share a row. */
function rowsOf({ added, removed }: Changed): readonly Row[] {
  const parse = (lines: readonly string[]) => readNTriples(lines.slice(0, MOST).join('\n')) ?? []
  const rows: Row[] = []
  const came = parse(added)
  const taken = new Set<number>()
  for (const { subject, predicate, object } of parse(removed)) {
    const at = came.findIndex(
      (one, i) => !taken.has(i) && one.subject.equals(subject) && one.predicate.equals(predicate),
    )
    if (at >= 0) taken.add(at)
    const after = came[at]?.object
    rows.push({ subject, predicate: predicate.value, before: object, ...(after && { after }) })
  }
  for (const [i, { subject, predicate, object }] of came.entries()) {
    if (!taken.has(i)) rows.push({ subject, predicate: predicate.value, after: object })
  }
  return rows
}

interface Props {
  readonly changed: Changed
  readonly document: string
  readonly base: string
  /** The level of the headings; 3 below a heading of the page. */
  readonly level?: 2 | 3
}

export function ChangesShown({ changed, document, base, level = 3 }: Props) {
  const { added, removed } = changed
  if (added.length + removed.length === 0) return <p class="box">{texts().noDifference}</p>
  const bySubjects = new Map<string, Row[]>()
  for (const row of rowsOf(changed)) {
    const known = bySubjects.get(row.subject.value)
    if (known) known.push(row)
    else bySubjects.set(row.subject.value, [row])
  }
  return (
    <>
      <p>{texts().changed(added.length, removed.length)}</p>
      {[...bySubjects.values()].map((rows) => (
        <section class="card subject">
          <Heading level={level}>
            {rows[0]!.subject.value === document ? texts().theDocument : <Value term={rows[0]!.subject} base={base} />}
          </Heading>
          <table class="changes">
            <thead class="hidden">
              <tr>
                <th scope="col">{texts().sign}</th>
                <th scope="col">{texts().property}</th>
                <th scope="col">{texts().value}</th>
              </tr>
            </thead>
            <tbody>{rows.map((row) => rowShown(row, base))}</tbody>
          </table>
        </section>
      ))}
      {Math.max(added.length, removed.length) > MOST ? <p class="hint">{texts().moreChanges(MOST)}</p> : null}
    </>
  )
}

const Heading = ({ level, children }: { readonly level: 2 | 3; readonly children?: Child }) =>
  level === 2 ? <h2>{children}</h2> : <h3>{children}</h3>

function rowShown({ predicate, before, after }: Row, base: string): Child {
  const [old, now] = before && after ? within(before, after) : [undefined, undefined]
  return (
    <>
      {before ? (
        <Line kind="minus" predicate={predicate} value={old ?? <Value term={before} base={base} isExact />} />
      ) : null}
      {after ? (
        <Line kind="plus" predicate={predicate} value={now ?? <Value term={after} base={base} isExact />} />
      ) : null}
    </>
  )
}

interface LineProps {
  readonly kind: 'plus' | 'minus'
  readonly predicate: string
  readonly value: Child
}

const Line = ({ kind, predicate, value }: LineProps) => (
  <tr class={kind}>
    <td class="sign">
      {kind === 'plus' ? '+' : '−'}
      <span class="hidden"> {kind === 'plus' ? texts().added : texts().removed}</span>
    </td>
    <td>
      <NamedTerm iri={predicate} />
    </td>
    <td>{value}</td>
  </tr>
)

/** For texts of the same kind: marks only what differs between their common beginning and end. */
function within(before: Term, after: Term): readonly [Child, Child] | readonly [undefined, undefined] {
  const isText = before.termType === 'Literal' && after.termType === 'Literal'
  if (!isText || before.language !== after.language || !before.datatype.equals(after.datatype))
    return [undefined, undefined]
  const [a, b] = [before.value, after.value]
  if (a.length > 2000 || b.length > 2000) return [undefined, undefined]
  const least = Math.min(a.length, b.length)
  let start = 0
  while (start < least && a[start] === b[start]) start++
  let end = 0
  while (end < least - start && a.at(-1 - end) === b.at(-1 - end)) end++
  // Never split a surrogate pair.
  if (start > 0 && /[\ud800-\udbff]/.test(a[start - 1]!)) start--
  if (end > 0 && /[\udc00-\udfff]/.test(a.at(-end)!)) end--
  if (start + end < least / 3) return [undefined, undefined]
  const parts = (text: string, mark: (inner: Child) => Child): Child => (
    <span class="text" dir="auto">
      <Plain text={text.slice(0, start)} />
      {mark(<Plain text={text.slice(start, text.length - end)} />)}
      <Plain text={text.slice(text.length - end)} />
    </span>
  )
  return [parts(a, (inner) => <del>{inner}</del>), parts(b, (inner) => <ins>{inner}</ins>)]
}
