// What a person has sent by a form that is refused: the page of the error has it, so that nothing typed is lost.
import { isOfOwnPage } from '../../policies/cross-site.js'
import { readText } from '../http/body.js'
import type { Request } from '../http/exchange.js'
import { isFailure, problem } from '../problem.js'

const FORM_TYPE = 'application/x-www-form-urlencoded'
/** In bytes: as much as a person edits as one text. */
const LARGEST = 256 * 1024
/** Agents without a right to the form send it too: its page is made on the event loop (design 7). */
const MOST_FIELDS = 200

/** The content of a form that was read; undefined where it could not be. */
const contents = new WeakMap<Request, string | undefined>()
export const rememberForm = (request: Request, content: string | undefined): void => void contents.set(request, content)

/** True where a page of ours sent it, and something was typed. */
export const isSentForm = ({ method, fields }: Request, origins: readonly string[]): boolean =>
  method === 'POST' &&
  fields['content-length'] !== '0' &&
  (fields['content-type'] ?? '').startsWith(FORM_TYPE) &&
  isOfOwnPage(fields, origins)

/** True where the content of a form has more fields than that; it is not parsed. */
export function hasMoreFields(content: string, most: number): boolean {
  let fields = 1
  for (let at = content.indexOf('&'); at >= 0 && fields <= most; at = content.indexOf('&', at + 1)) fields++
  return fields > most
}

/** Undefined where it is not read: too much, too many fields, or too many requests at once. */
export async function sentForm(request: Request): Promise<URLSearchParams | undefined> {
  const content = contents.has(request) ? contents.get(request) : await contentOf(request)
  if (content === undefined || content.length > LARGEST || hasMoreFields(content, MOST_FIELDS)) return undefined
  return new URLSearchParams(content)
}

async function contentOf(request: Request): Promise<string | undefined> {
  if (!request.isAdmitted) return undefined
  const text = await readText(request, LARGEST, (_, detail) => problem('request.malformed', detail))
  return isFailure(text) ? undefined : text
}
