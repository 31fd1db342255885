// What a run of adopt writes into its file for undoing, by the gateway's answers: only what this run has certainly made
// counts as made.
import t from 'tap'
import { storeThrough, writingThrough } from '../../../../gateway/features/adoption/adopt-gateway.js'
import { carryOutAdoption } from '../../../../gateway/features/adoption/carry-out.js'
import { readUndoFile, openUndoFile } from '../../../../gateway/features/adoption/undo-file.js'
import type { GatewayAnswer, GatewayClient } from '../../../../gateway/commands/gateway-client.js'
import { isFailure } from '../../../../gateway/problem.js'

const BASE = 'https://data.example.org/'
const ABOUT = { base: BASE, admin: `${BASE}admin/`, asked: '' }
const LOST = { failure: 'gateway.unreachable', detail: 'gone' } as const
const C = `${BASE}c/`

type Answered = number | typeof LOST

/** A gateway that gives these answers to writes, and whose store has these graphs. */
function gatewayOf(answers: readonly Answered[], graphs: readonly string[]): GatewayClient {
  let sent = 0
  const answer = (status: number, body = '', fields = {}): GatewayAnswer => ({
    status,
    fields,
    body: Buffer.from(body),
  })
  return {
    connection: { url: new URL(BASE), cert: undefined, cacert: undefined, data: '' },
    identified: true,
    close: () => undefined,
    send(method, _path, fields, body) {
      if (fields['Content-Type'] === 'application/sparql-query') {
        const isContent = String(body).includes('SUM(')
        const rows = graphs.filter((graph) => String(body).includes(`(<${graph}> `)).map((graph) => `<${graph}>\t1\t12\t0\n`) // prettier-ignore
        return Promise.resolve(
          answer(200, isContent ? `?g\t?count\t?sum\t?modified\n${rows.join('')}` : '?g\t?s\t?p\t?o\n'),
        )
      }
      const next = answers[sent++]
      if (next === undefined) throw new Error(`unexpected ${method}`)
      return Promise.resolve(typeof next === 'number' ? answer(next, '', { etag: '"e"' }) : next)
    },
  }
}

const move = { from: 'urn:a', to: `${BASE}a/`, isContainer: false }
const NAME = 'name urn:a 1-12'
// prettier-ignore
const rows: readonly (readonly [name: string, what: 'container' | 'name', graphs: readonly string[], answers: readonly Answered[], lines: readonly string[], undone: readonly string[], refused: number])[] = [
  ['a container', 'container', [], [201], ['creating', 'container "e"'], ['container "e"'], 0],
  ['one of another agent', 'container', [], [412], ['creating', 'refused'], [], 1],
  ['one that is refused', 'container', [], [403], ['creating', 'refused'], [], 1],
  ['one in doubt', 'container', [], [502], ['creating'], ['creating'], 1],
  ['one that an earlier try may have created', 'container', [], [LOST, 412], ['creating'], ['creating'], 0],
  ['one that the second try creates', 'container', [], [LOST, 201], ['creating', 'container "e"'], ['container "e"'], 0],
  ['a name', 'name', ['urn:a'], [204], [NAME], [NAME], 0],
  ['a name that is refused', 'name', ['urn:a'], [422], [NAME, 'refused'], [], 1],
  ['a name in doubt', 'name', ['urn:a'], [504], [NAME], [NAME], 1],
  ['a name that is refused after an answer was lost', 'name', ['urn:a'], [LOST, 422], [NAME], [NAME], 1],
  ['a name that is taken since the plan', 'name', ['urn:a', move.to], [], [], [], 1],
  ['a graph that is gone since the plan', 'name', [], [], [], [], 1],
]

void t.test('the lines of the file', async (t) => {
  for (const [name, what, graphs, answers, lines, undone, refused] of rows) {
    const client = gatewayOf(answers, graphs)
    const undo = openUndoFile(t.testdir({}), ABOUT, 0)
    if (isFailure(undo)) throw new Error(undo.detail)
    const added: string[] = []
    const textOf = (line: object): string => {
      const { kind, from, digest, etag } = line as Partial<Record<string, string>>
      return [kind, from, digest, etag].filter(Boolean).join(' ')
    }
    const writing = writingThrough({ [BASE]: client }, client)
    const plan = {
      graphs: [],
      moves: new Map(what === 'name' ? [[move.from, move]] : []),
      typed: what === 'container' ? [{ document: C, exists: false, isContainer: true }] : [],
      refused: [],
    }
    const carried = await carryOutAdoption(plan, {
      member: { base: BASE, store: storeThrough(client) },
      search: undefined,
      writing,
      undo: { ...undo, add: (line) => (added.push(textOf(line)), undo.add(line)) },
      report: () => undefined,
    })
    t.match(carried, { refused: { length: refused } }, name)
    t.strictSame(added, lines, name)
    const read = readUndoFile(undo.file)
    t.strictSame(isFailure(read) ? read : read.changes.map(textOf), undone, `${name}: what may have been made`)
  }
})
