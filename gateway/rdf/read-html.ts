// Finds JSON-LD islands in HTML (JSON-LD 1.1 §7): the texts of the script elements, and the base.
import { Parser } from 'htmlparser2'
import { isTooLong, normalBase, BASE_TOO_LONG, resolve } from './bases.js'
import { parseMediaType } from '../http/media-type.js'
import { malformed, type SyntaxFailure } from './terms.js'

const DEPTH_LIMIT = 512

/** The JSON-LD script texts and the base of the page; a failure if the page is nested too deeply. */
export function islandsOf(html: string, base: string): { texts: readonly string[]; base: string } | SyntaxFailure {
  const texts: string[] = []
  let inIsland = false
  let pageBase: string | undefined
  let depth = 0
  const parser = new Parser({
    onopentag(name, { type, href }) {
      // The parser's own stack costs time quadratic in the depth.
      if (++depth > DEPTH_LIMIT) parser.pause()
      inIsland = name === 'script' && parseMediaType(type ?? '')?.type === 'application/ld+json'
      if (inIsland) texts.push('')
      // HTML §4.2.3: the first base element with an href counts.
      if (name === 'base' && href !== undefined) pageBase ??= resolved(href.trim(), base)
    },
    ontext(text) {
      if (inIsland) texts.push(texts.pop() + text)
    },
    onclosetag() {
      depth--
      inIsland = false
    },
  })
  parser.end(html)
  if (depth > DEPTH_LIMIT) return malformed(`nested deeper than ${DEPTH_LIMIT} levels`)
  if (pageBase !== undefined && isTooLong(pageBase, base)) return malformed(BASE_TOO_LONG)
  return { texts, base: pageBase === undefined ? base : normalBase(pageBase) }
}

function resolved(href: string, base: string): string {
  try {
    return resolve(href, base)
  } catch {
    return base
  }
}
