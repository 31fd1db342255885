// In charge of requests for a document's history (spec 4.5, 9) where its dataspace keeps none.
import type { Response } from './exchange.js'
import type { Application } from './gateway.js'
import type { Context } from './handle.js'
import { methodNotAllowed } from './refusal.js'
import { READ_METHODS } from './respond.js'
import { parseAccept } from './negotiate.js'
import { problem, type Problem } from './problem.js'
import type { Target } from './target.js'

export function past({ request, accept }: Context, target: Target<Application>): Response | Problem {
  if (request.method !== 'GET' && request.method !== 'HEAD') return methodNotAllowed(request.method, READ_METHODS)
  // Spec 7: 406 on ?timemap with Accept application/link-format when the document is not versioned.
  if (target.kind === 'timemap' && parseAccept(accept).some((range) => range.type === 'application/link-format')) {
    return problem('negotiation.not-acceptable', 'This document is not versioned.')
  }
  return problem('document.no-versions', 'This document has no versions: its dataspace is not versioned.')
}
