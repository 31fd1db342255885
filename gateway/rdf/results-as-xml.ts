// Writes the solutions of SPARQL results in JSON as XML while they stream.
import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import { NOT_IN_XML } from './write-rdf-xml.js'
import type { JsonResults, JsonTerm } from './sparql-results.js'
import { XML_END, xmlBeginning, xmlSolution } from './write-sparql-results.js'

/** `noXml`: XML 1.0 cannot contain the results. `broken`: they are no solutions in JSON. `tooLarge`: a row is too large. */
export interface Flaws {
  readonly noXml: Error
  readonly broken: Error
  readonly tooLarge: Error
}

/** In characters: a row is held in memory, as is the head. */
const MOST_HELD = 8 * 1024 * 1024

/** Throws a flaw before the part that has it is passed on. */
export async function* resultsAsXml(pieces: AsyncIterable<Uint8Array>, flaws: Flaws): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const solutions = makeSolutions()
  for await (const piece of pieces) {
    const xml = unlessBroken(flaws, () =>
      solutions
        .next(decoder.decode(piece, { stream: true }))
        .map(xmlOf)
        .join(''),
    )
    if (NOT_IN_XML.test(xml)) throw flaws.noXml
    if (xml !== '') yield Buffer.from(xml)
    // The pieces of an embedded store are there at once.
    await eventLoopTurn()
    if (solutions.held() > MOST_HELD) throw flaws.tooLarge
  }
  if (!solutions.isWhole()) throw flaws.broken
  yield Buffer.from(XML_END)
}

function unlessBroken<T>({ broken }: Flaws, act: () => T): T {
  try {
    return act()
  } catch {
    throw broken
  }
}

/** `isHead`: the text before the first solution, with the end that it lacks; otherwise a solution. */
interface Part {
  readonly isHead: boolean
  readonly text: string
}

function xmlOf({ isHead, text }: Part): string {
  if (!isHead) return xmlSolution(Object.entries<JsonTerm>(JSON.parse(text)))
  const { head }: JsonResults = JSON.parse(text)
  if (!head?.vars) throw new TypeError('no variables before the solutions')
  return xmlBeginning(head.vars.map(String))
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c]
const [OPENING, CLOSING] = [new Set([0x7b, 0x5b]), new Set([0x7d, 0x5d])]
/** The end of the text before the solutions (SPARQL 1.1 Query Results JSON Format §3.2). */
const BEFORE_SOLUTIONS = /"bindings"\s*:\s*$/
/** The depth of solutions: in the array of an object of the results. */
const DEPTH = 3

/** Divides the text into its head and its solutions, by brackets outside strings. */
function makeSolutions() {
  let [depth, isString, isEscaped] = [0, false, false]
  let state: 'head' | 'solutions' | 'end' = 'head'
  let held = ''
  function next(text: string): Part[] {
    const parts: Part[] = []
    let from = 0
    for (let at = 0; at < text.length; at++) {
      const character = text.charCodeAt(at)
      if (isString) {
        if (isEscaped) isEscaped = false
        else if (character === BACKSLASH) isEscaped = true
        else if (character === QUOTE) isString = false
      } else if (character === QUOTE) isString = true
      else if (OPENING.has(character)) {
        depth++
        if (state === 'solutions' && depth === DEPTH + 1) [held, from] = ['', at]
        else if (state === 'head' && depth === DEPTH) {
          const head = held + text.slice(from, at)
          if (!BEFORE_SOLUTIONS.test(head)) continue
          parts.push({ isHead: true, text: `${head}[]}}` })
          ;[state, held, from] = ['solutions', '', at + 1]
        }
      } else if (CLOSING.has(character)) {
        depth--
        if (state !== 'solutions' || depth > DEPTH) continue
        if (depth === DEPTH) parts.push({ isHead: false, text: held + text.slice(from, at + 1) })
        else state = 'end'
        ;[held, from] = ['', at + 1]
      }
    }
    held = state === 'end' ? '' : held + text.slice(from)
    return parts
  }
  return { next, held: () => held.length, isWhole: () => state === 'end' && depth === 0 }
}
