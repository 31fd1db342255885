// Reads SPARQL results from XML (SPARQL Query Results XML Format). Pure.
import { Parser } from 'htmlparser2'
import type { Term } from './graph.js'
import type { Results } from './sparql-results.js'

export interface TermDescription {
  readonly type: string
  readonly value: string
  readonly language?: string | undefined
  readonly direction?: 'ltr' | 'rtl' | undefined
  readonly datatype?: string | undefined
}

export type MakeTerm = (description: TermDescription) => Term

/** Undefined if malformed. `depth` limits nested elements; `termOf` throws for invalid terms. */
export function readResultsXml(xml: string, termOf: MakeTerm, depth: number): Results | undefined {
  const path: string[] = []
  const variables: string[] = []
  const solutions: Map<string, Term>[] = []
  let boolean: string | undefined
  let isTable = false
  let name = ''
  let attributes: Readonly<Record<string, string>> = {}
  let content = ''
  let openedAt = 0
  let flaw = false as boolean
  const stop = (): void => {
    flaw = true
    parser.pause()
  }
  const parser = new Parser(
    {
      onopentag(tag, given) {
        if (path.push(tag.replace(/^.*:/, '')) > depth) return stop()
        openedAt = parser.startIndex
        content = ''
        switch (path.join('/')) {
          case 'sparql/head/variable':
            return void variables.push(given.name ?? '')
          case 'sparql/results':
            return void (isTable = true)
          case 'sparql/results/result':
            return void solutions.push(new Map())
          case 'sparql/results/result/binding':
            return void (name = given.name ?? '')
          default:
            attributes = given
        }
      },
      ontext: (text) => void (content += text),
      onclosetag(_tag, implied) {
        // Only a self-closing element may lack an end tag.
        if (implied && parser.startIndex !== openedAt) return stop()
        const at = path.join('/')
        path.pop()
        if (at === 'sparql/boolean') boolean = content.trim()
        if (!/^sparql\/results\/result\/binding\/[a-z]+$/.test(at)) return
        const { 'xml:lang': language, datatype } = attributes
        solutions
          .at(-1)!
          .set(name, termOf({ type: at.slice(at.lastIndexOf('/') + 1), value: content, language, datatype }))
      },
      // XML §2.8: a document type could declare entities. Results never need them.
      onprocessinginstruction: (tag) => void (tag.startsWith('!') && stop()),
    },
    { xmlMode: true },
  )
  parser.end(xml)
  if (flaw || path.length > 0) return undefined
  if (boolean !== undefined)
    return /^(true|false)$/.test(boolean) ? { kind: 'boolean', value: boolean === 'true' } : undefined
  return isTable ? { kind: 'solutions', variables, solutions } : undefined
}
