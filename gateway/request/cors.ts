// CORS (Fetch §3.2): pages of any origin may read what is public. Pages of origins that the operator allows
// (--allow-origin) may also send the browser's credentials and read the answers.
import type { Gateway } from '../gateway.js'
import type { Field, Request, Response } from '../http/exchange.js'
import { readyFields } from '../http/ready-head.js'

/** The answer, readable by a page of an allowed origin. */
export function answerTo(
  { fields: { origin } }: Request,
  given: Response,
  { settings }: Pick<Gateway, 'settings'>,
): Response {
  if (origin === undefined || !settings.allowOrigin.includes(origin)) return given
  const { ready, ...answered } = given
  const fields = ready ? [...readyFields(ready), ...answered.fields] : answered.fields
  const shared = fields.filter(([name]) => name !== ALLOW_ORIGIN)
  return { ...answered, fields: [...shared, [ALLOW_ORIGIN, origin], ['Access-Control-Allow-Credentials', 'true']] }
}

const ALLOW_ORIGIN = 'Access-Control-Allow-Origin'

/** RFC 9110 §12.5.5: allowed origins get different answers than others. */
export const originMarks = (allowed: readonly string[]): readonly Field[] =>
  allowed.length === 0 ? [] : [['Vary', 'Origin']]
