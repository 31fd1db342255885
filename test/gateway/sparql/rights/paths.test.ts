// Property paths as triples, alternatives and conditions, and their ways without a step (SPARQL 1.1 §18.4).
import t from 'tap'
import type { Path, Term } from '../../../../gateway/sparql/language/syntax.js'
import { type Unfolded, unfolded, waysWithoutStep } from '../../../../gateway/sparql/rights/paths.js'
import { read } from '../../../support/over-views.js'

function pathOf(text: string): Path {
  const [pattern] = read(`SELECT * { ?s ${text} ?o }`)!.body.where
  const predicate = pattern?.kind === 'triples' ? pattern.triples[0]!.predicate : undefined
  if (predicate?.kind !== 'path' && predicate?.kind !== 'iri') throw new Error(text)
  return predicate
}

const variable = (value: string) => ({ kind: 'variable', value }) as const

/** Such as `s p 1 . 1 q o`; alternatives in braces. */
function textOf(steps: readonly Unfolded[] | undefined): string {
  const term = (part: Term | Path): string => ('value' in part ? part.value.replace('urn:', '') : '?')
  const text = (step: Unfolded): string => {
    if (step.kind === 'triple')
      return [step.triple.subject, step.triple.predicate, step.triple.object].map(term).join(' ')
    if (step.kind === 'alternatives') return step.branches.map((branch) => `{ ${textOf(branch)} }`).join(' or ')
    if (step.kind !== 'filter' || step.expression.kind !== 'operation') throw new Error(JSON.stringify(step))
    const { operator, args } = step.expression as { readonly operator: string; readonly args: readonly Term[] }
    return `${operator} ${args.map(term).join(' ')}`
  }
  return steps ? steps.map(text).join(' . ') : 'no list of triples'
}

await t.test('a path as triples', async (t) => {
  const rows = [
    ['<urn:p>', 's p o'],
    ['^<urn:p>', 'o p s'],
    ['<urn:p>/<urn:q>/<urn:r>', 's p 1 . 1 q 2 . 2 r o'],
    ['^(<urn:p>/<urn:q>)', 'o p 1 . 1 q s'],
    ['<urn:p>|^<urn:q>', '{ s p o } or { o q s }'],
    ['<urn:p>/(<urn:q>|<urn:r>)', 's p 1 . { 1 q o } or { 1 r o }'],
    ['!<urn:p>', 's 1 o . notin 1 p'],
    ['!^<urn:p>', 'o 1 s . notin 1 p'],
    ['!(<urn:p>|<urn:q>)', 's 1 o . notin 1 p q'],
    ['!(^<urn:p>|^<urn:q>)', 'o 1 s . notin 1 p q'],
    ['!(<urn:p>|^<urn:q>|<urn:r>)', '{ s 1 o . notin 1 p r } or { o 2 s . notin 2 q }'],
    ['^!<urn:p>', 'o 1 s . notin 1 p'],
    ['<urn:p>?', 'no list of triples'],
    ['<urn:p>/<urn:q>*', 'no list of triples'],
    ['<urn:p>|^<urn:q>+', 'no list of triples'],
  ] as const
  for (const [path, expected] of rows) {
    let made = 0
    const found = unfolded(variable('s'), pathOf(path), variable('o'), () => variable(String(++made)))
    t.equal(textOf(found), expected, path)
  }
})

await t.test('the ways of a path without a step', async (t) => {
  const rows = [
    ['<urn:a>', 0],
    ['!<urn:a>', 0],
    ['<urn:a>*', 1],
    ['<urn:a>+', 0],
    ['(<urn:a>?)+', 1],
    ['^(<urn:a>?|<urn:b>?)', 2],
    ['(<urn:a>?|<urn:b>)/<urn:c>?', 1],
    ['(<urn:a>?|<urn:b>?)/^(<urn:c>?|<urn:d>*)', 4],
    [Array(11).fill('(<urn:a>?|<urn:b>?)').join('/'), 1001],
    [Array(1002).fill('<urn:a>?').join('|'), 1001],
  ] as const
  for (const [path, ways] of rows) {
    t.equal(waysWithoutStep(pathOf(path)), ways, path)
  }
})
