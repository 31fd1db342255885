// In charge of what pages of other origins may do (Fetch §3.2): all may read what is public; those that the operator allows
// (--allow-origin) may also send what a browser adds by itself, and read the answers.
import type { Field, Response } from '../http/exchange.js'

/** The answer to a request of an allowed origin. */
export function answerTo(origin: string, { ready, ...answered }: Response): Response {
  const fields = ready ? [...ready.head.fields, ['Age', ready.age] as const, ...answered.fields] : answered.fields
  const shared = fields.filter(([name]) => name !== ALLOW_ORIGIN)
  return { ...answered, fields: [...shared, [ALLOW_ORIGIN, origin], ['Access-Control-Allow-Credentials', 'true']] }
}

const ALLOW_ORIGIN = 'Access-Control-Allow-Origin'

/** RFC 9110 §12.5.5: the answers to allowed origins differ from those to others. */
export const originMarks = (allowed: readonly string[]): readonly Field[] =>
  allowed.length === 0 ? [] : [['Vary', 'Origin']]
