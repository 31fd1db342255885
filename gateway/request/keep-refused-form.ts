// Keeps what a person typed into a refused form, so that the error page can show it and nothing is lost.
import { isOfOwnPage } from '../../policies/cross-site.js'
import { readText } from '../http/body.js'
import type { Request } from '../http/exchange.js'
import { isFailure, problem } from '../problem.js'

const FORM_TYPE = 'application/x-www-form-urlencoded'
/** In bytes: as much as a person would edit as one text. */
const LARGEST = 256 * 1024
/** Agents without a right to the form can send it too, and its page is made on the event loop (design 7). */
const MOST_FIELDS = 200

/** The contents of forms that have been read; undefined if reading failed. */
const contents = new WeakMap<Request, string | undefined>()
export const rememberForm = (request: Request, content: string | undefined): void => void contents.set(request, content)

/** True if a page of ours sent the form and something was typed into it. */
export const isSentForm = ({ method, fields }: Request, origins: readonly string[]): boolean =>
  method === 'POST' &&
  fields['content-length'] !== '0' &&
  (fields['content-type'] ?? '').startsWith(FORM_TYPE) &&
  isOfOwnPage(fields, origins)

/** True if the form has more than `most` fields. Does not parse it. */
export function hasMoreFields(content: string, most: number): boolean {
  let fields = 1
  for (let at = content.indexOf('&'); at >= 0 && fields <= most; at = content.indexOf('&', at + 1)) fields++
  return fields > most
}

/** Undefined if the form is not read: it is too large, has too many fields, or too many requests are being answered. */
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
