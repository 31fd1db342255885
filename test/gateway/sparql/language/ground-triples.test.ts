// Plain triples in the data of an update are not passed to the parser. The graphs that the update reads, writes and
// removes are the same with and without them, and every mistake is still found.
import t from 'tap'
import fc from 'fast-check'
import { isFailure } from '../../../../gateway/problem.js'
import { analyseUpdate, type UpdateAnalysis } from '../../../../gateway/sparql/language/analysis.js'
import { DEFAULT_GRAPH } from '../../../../gateway/sparql/language/graph-sets.js'
import { withoutPlainTriples } from '../../../../gateway/sparql/language/ground-triples.js'
import { tokensOf } from '../../../../gateway/sparql/language/tokens.js'

const BASE = 'https://localhost/'
const T = '<urn:s> <urn:p> "o" .'

const written = (text: string): readonly string[] | string => {
  const analysis = analyseUpdate(text, BASE)
  return isFailure(analysis) ? analysis.failure : (analysis as UpdateAnalysis).writeSet
}

// prettier-ignore
const ROWS: [update: string, written: readonly string[] | string][] = [
  [`INSERT DATA { ${T} ${T} }`, [DEFAULT_GRAPH]],
  [`INSERT DATA { GRAPH <urn:g> { ${T} ${T} } }`, ['urn:g']],
  [`INSERT DATA { GRAPH <urn:g> { ${T} ${T} } ${T} }`, [DEFAULT_GRAPH, 'urn:g'].sort()],
  [`INSERT DATA { GRAPH <urn:g> { ${T} } . ${T} ${T} }`, [DEFAULT_GRAPH, 'urn:g'].sort()],
  [`INSERT DATA { ${T} GRAPH <urn:g> { ${T} ${T} } . GRAPH <urn:h> { ${T} } }`, [DEFAULT_GRAPH, 'urn:g', 'urn:h'].sort()],
  [`INSERT DATA { GRAPH <urn:g> { } }`, ['urn:g']],
  [`INSERT DATA { GRAPH <urn:g> { ${T} } } ; DELETE DATA { GRAPH <urn:h> { ${T} ${T} } } ; DROP GRAPH <urn:i>`, ['urn:g', 'urn:h', 'urn:i']],
  [`INSERT DATA { GRAPH <urn:g> { ${T} <urn:s> a <urn:o>, 1, -1.5, true, "x"@en-GB, "x"^^<urn:d> ; <urn:p> 2e3 . } }`, ['urn:g']],
  [`INSERT DATA { GRAPH <urn:g> { ${T} _:b <urn:p> [ <urn:p> (1 2) ] . ${T} } }`, ['urn:g']],
  [`INSERT { GRAPH <urn:g> { ${T} ${T} } } WHERE { ${T} ${T} }`, ['urn:g']],
  [`INSERT DATA { GRAPH <urn:g> { ${T} ${T} <urn:s> <urn:p> } }`, 'update.syntax'],
  [`INSERT DATA { GRAPH <urn:g> { ${T} . ${T} } }`, 'update.syntax'],
  [`INSERT DATA { GRAPH <urn:g> { ${T} <urn:s> "p" 1 . } }`, 'update.syntax'],
  [`INSERT DATA { GRAPH <urn:g> { ${T} <urn:s> <urn:p> ?v . } }`, 'update.syntax'],
  [`INSERT DATA { GRAPH ?g { ${T} ${T} } }`, 'update.syntax'],
  [`INSERT DATA { GRAPH <urn:g> { ${T} ${T} }`, 'update.syntax'],
  [`INSERT DATA { GRAPH <urn:g> { ${T} ${T} } } }`, 'update.syntax'],
  [`INSERT DATA { GRAPH <urn:g> { ${T} ${T} GRAPH <urn:h> { ${T} } } }`, 'update.syntax'],
  [`INSERT DATA { ${T} ${T} DROP ALL }`, 'update.syntax'],
  [`INSERT DATA ${T}`, 'update.syntax'],
]

void t.test('the graphs that an update with plain data writes', async (t) => {
  for (const [text, expected] of ROWS) t.same(written(text), expected, text)
  await t.test('the parser gets one statement of each block', async (t) => {
    const tokens = tokensOf(`INSERT DATA { GRAPH <urn:g> { ${T.repeat(1000)} } ${T.repeat(1000)} }`, BASE)
    t.equal(isFailure(tokens) || withoutPlainTriples(tokens.tokens).length, 3 + 3 + 4 + 1 + 4 + 1)
  })
  await t.test('the place of a mistake is the one in the text', async (t) => {
    const analysis = analyseUpdate(`INSERT DATA { \n${`${T}\n`.repeat(5)} <urn:s> <urn:p> ; }`, BASE)
    t.match(isFailure(analysis) && analysis.detail, /line 7, column 18/)
  })
})

void t.test('property: the result is the same as without plain triples', async (t) => {
  const term = fc.constantFrom('<urn:o>', '"x"', '"x"@en', '1', 'true', '"x"^^<urn:d>', '_:c')
  const objects = fc.array(term, { minLength: 1, maxLength: 3 }).map((all) => all.join(' , '))
  const verbs = fc.array(fc.tuple(fc.constantFrom('a', '<urn:p>'), objects), { minLength: 1, maxLength: 2 })
  const statement = verbs.map((all) => `S ${all.map((one) => one.join(' ')).join(' ; ')}`)
  const triples = fc.array(statement, { maxLength: 4 }).map((all) => all.join(' . '))
  const block = fc.tuple(fc.constantFrom('', '<urn:g>', '<urn:h>'), triples, fc.constantFrom('', ' .'))
  // A block of the default graph has to end before the next one begins.
  const blockText = ([graph, text, dot]: [string, string, string]): string =>
    graph === '' ? (text === '' ? '' : `${text} .`) : `GRAPH ${graph} { ${text}${text === '' ? '' : dot} }`
  const update = fc.array(block, { maxLength: 4 }).map((all) => `INSERT DATA { ${all.map(blockText).join(' ')} }`)
  const operations = fc.array(update, { minLength: 1, maxLength: 3 }).map((all) => all.join(' ; '))
  fc.assert(
    fc.property(operations, (text) => {
      const [plain, other] = ['<urn:s>', '[]'].map((subject) =>
        analyseUpdate(text.replaceAll('S ', `${subject} `), BASE),
      )
      if (isFailure(plain!) !== isFailure(other!)) throw new Error(text)
      if (isFailure(plain!) || isFailure(other!)) return
      for (const part of ['writeSet', 'reads', 'removes', 'functions', 'services', 'loads'] as const) {
        if (JSON.stringify(plain![part]) !== JSON.stringify(other![part])) throw new Error(`${part}: ${text}`)
      }
    }),
    { numRuns: 500 },
  )
  t.pass()
})
