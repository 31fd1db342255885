// In charge of what a person has sent by a form that is refused: the page of the error has it, so that nothing typed is lost.
import { isOfOwnPage } from '../../policies/cross-site.js'
import { readText } from '../http/body.js'
import type { Request } from '../http/exchange.js'
import { isFailure, problem } from '../problem.js'

const FORM_TYPE = 'application/x-www-form-urlencoded'
/** In bytes: as much as a person edits as one text. */
const LARGEST = 256 * 1024

/** The content of a form that was read; undefined where it could not be. */
const contents = new WeakMap<Request, string | undefined>()
export const rememberForm = (request: Request, content: string | undefined): void => void contents.set(request, content)

/** True where a page of ours sent it. */
export const isSentForm = ({ method, fields }: Request, origins: readonly string[]): boolean =>
  method === 'POST' && (fields['content-type'] ?? '').startsWith(FORM_TYPE) && isOfOwnPage(fields, origins)

/** Undefined where it is not read: too much, or too many at once. */
export async function sentForm(request: Request): Promise<URLSearchParams | undefined> {
  const content = contents.has(request) ? contents.get(request) : await contentOf(request)
  return content === undefined || content.length > LARGEST ? undefined : new URLSearchParams(content)
}

async function contentOf(request: Request): Promise<string | undefined> {
  if (!request.isAdmitted) return undefined
  const text = await readText(request, LARGEST, (_, detail) => problem('request.malformed', detail))
  return isFailure(text) ? undefined : text
}
