// Reading RDF in tests: tables of content with the expected triples or failure.
import type { Test } from 'tap'
import { isFailure, type Problem } from '../../../gateway/problem.js'
import { nTriplesLine, type Quad } from '../../../gateway/rdf/graph.js'
import { readGraph } from '../../../gateway/rdf/read.js'

export const DOC = 'https://x.example/d/'

const CONTEXTS: Readonly<Record<string, unknown>> = {
  'https://c.example/ok': { '@context': { title: 'http://purl.org/dc/terms/title', type: '@type' } },
  'https://c.example/self': { '@context': ['https://c.example/self'] },
  'https://c.example/a': { '@context': 'https://c.example/b' },
  'https://c.example/b': { '@context': 'https://c.example/a' },
  'https://c.example/based': { '@context': [{ '@base': 'http://elsewhere/', p: 'http://p/' }] },
  'https://c.example/none': { title: 'http://purl.org/dc/terms/title' },
  'https://c.example/text': 'no context',
  'https://c.example/inherited': { '@context': { valueOf: 'http://t/valueOf', constructor: 'http://c/' } },
}

const loadContext = async (url: string): Promise<string | undefined> =>
  JSON.stringify(url.startsWith('https://c.example/many/') ? { '@context': {} } : CONTEXTS[url])

export const read = (body: string | Buffer, contentType?: string, base = DOC): Promise<Quad[] | Problem> =>
  readGraph(Buffer.from(body as string), contentType, base, { loadContext })

/** Canonical lines. Blank nodes get labels by order of appearance. */
function linesOf(quads: readonly Quad[]): string[] {
  const labels = new Map<string, string>()
  const line = (triple: Quad): string =>
    nTriplesLine(triple).replace(/_:(d[\w-]{11}b\d+)/g, (_, label: string) => {
      if (!labels.has(label)) labels.set(label, `_:b${labels.size}`)
      return labels.get(label)!
    })
  return quads.map(line)
}

export type Row = readonly [behaviour: string, body: string | Buffer, expected: readonly string[] | string]

/** `expected`: lines, with `<…>` for `<https://x.example/d/…>`; or the code of the problem and a part of its detail. */
export async function table(t: Test, contentType: string | undefined, rows: readonly Row[]): Promise<void> {
  for (const [behaviour, body, expected] of rows) {
    const result = await read(body, contentType)
    const name = `${contentType}: ${behaviour}`
    if (typeof expected !== 'string') {
      const lines = expected.map((line) =>
        line.replaceAll('<>', `<${DOC}>`).replace(/(?<=^| |\^)<(#?\w+)>/g, `<${DOC}$1>`),
      )
      t.strictSame(isFailure(result) ? result.detail : linesOf(result).sort(), lines.map((l) => `${l} .`).sort(), name)
    } else if (!isFailure(result)) t.fail(`${name}: ${linesOf(result).join('\n')}`)
    else {
      const [code, ...part] = expected.split(': ')
      t.equal(result.failure, code, name)
      t.ok(result.detail.includes(part.join(': ')), `${name}: ${result.detail}`)
      t.ok(result.detail.length < 500, `${name}: a short detail`)
    }
  }
}

export const XML = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'

export const about = (inside: string): string =>
  `${XML}<rdf:Description rdf:about="">${inside}</rdf:Description></rdf:RDF>`
