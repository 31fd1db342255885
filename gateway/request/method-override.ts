// Refuses requests that ask, by a field, to be taken for another method.
import type { Request } from '../http/exchange.js'
import { problem } from '../problem.js'

/**
 * LinkedDataHub 1.3: there such a `POST` counts as the other method. If the field were ignored, a deletion would add
 * triples, and succeed; if it were followed, a page could send methods that browsers send only after a preflight.
 */
export const namesOtherMethod = ({ method, fields }: Request): boolean =>
  method === 'POST' && !/^(?:post)?$/i.test(fields['x-http-method-override'] ?? '')

export const OTHER_METHOD = problem(
  'request.malformed',
  'X-HTTP-Method-Override names another method than POST: send the method itself.',
)
