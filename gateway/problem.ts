// Expected failures: the closed list of problems, the status of each, and the one way to make one.
// request/respond.ts writes a problem as a body (spec 2.2). A throw is a bug and becomes `internal`.

/** Every expected failure and the status it is answered with (spec 7, design 3). */
export const STATUS_OF = {
  'target.malformed': 400,
  'target.too-long': 414,
  'target.indirect': 400,
  'target.slash': 308,
  'target.unknown-origin': 404,
  'target.unknown-endpoint': 404,
  'request.malformed': 400,
  'method.not-allowed': 405,
  'credential.invalid': 400,
  'token.invalid': 401,
  'session.ended': 401,
  'token.guesses': 429,
  /** Access tokens cannot be stored. */
  'tokens.failed': 503,
  'access.denied': 403,
  /** At the store's own URLs, to anonymous clients. */
  'access.anonymous': 401,
  'access.cross-site': 403,
  'access.federation': 403,
  'access.graphs': 403,
  'access.unavailable': 503,
  'document.absent': 404,
  'document.no-versions': 404,
  'document.root': 400,
  'negotiation.not-acceptable': 406,
  'content.too-large': 413,
  'content.time': 408,
  'content.unsupported': 415,
  'content.syntax': 400,
  /** Terms of RDF 1.2, for a store that does not know them. */
  'content.rdf-version': 422,
  'query.syntax': 400,
  'query.function': 400,
  'update.syntax': 400,
  'update.form': 422,
  'update.failed': 502,
  /** An update, or the shapes of a document, take too much work: a retry would not help. */
  'update.time': 413,
  'precondition.failed': 412,
  'precondition.required': 428,
  'constraint.violated': 422,
  'constraint.unusable': 500,
  'store.unreachable': 503,
  'store.overloaded': 503,
  'store.failed': 502,
  /** It has not done what it was asked, for sure. */
  'store.refused': 502,
  'store.time': 504,
  /** The graph does not fit into memory; it can be streamed. */
  'store.too-large': 502,
  /** The store has the graph, but not as N-Triples that can be read. */
  'store.unreadable': 502,
  /** It is in memory, and can hold no more. */
  'store.full': 507,
  'store.in-doubt': 503,
  'history.full': 503,
  'history.failed': 503,
  /** Too little room would be left on its disk for others. */
  'history.no-room': 507,
  /** A file cannot be written to disk, or too little room would be left there. */
  'files.failed': 503,
  'files.full': 507,
  'files.other-content': 409,
  'range.unsatisfiable': 416,
  /** An ontology, or one that it imports, cannot be read. */
  'ontology.failed': 502,
  'package.unusable': 422,
  'mail.failed': 502,
  'server.closing': 503,
  'server.overloaded': 503,
  /** A share of the day is used up. */
  'share.daily': 429,
  /**
   * Of the Linked Data proxy: a URL that it may not fetch, a server that fails, one that is slow, a way back to here.
   */
  'proxy.refused': 400,
  'proxy.failed': 502,
  'proxy.time': 504,
  'proxy.loop': 508,
  internal: 500,
} as const

export type ProblemCode = keyof typeof STATUS_OF

/** An expected failure as a value: `failure` is its stable code, `detail` a sentence for people. */
export interface Failure<Code extends string = string> {
  readonly failure: Code
  readonly detail: string
}

export const isFailure = <T>(value: T): value is Extract<T, Failure> =>
  typeof value === 'object' && value !== null && (value as { failure?: unknown }).failure !== undefined

/** A failure that has an HTTP status. `detail` never holds what the client may not know. */
export interface Problem extends Failure<ProblemCode> {
  /** Response fields that belong to the problem (`Allow`, `Retry-After`, `Location` …). */
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** Of a store that answers 400: what it says, in a line. Only for agents who may know all that it may be about. */
  readonly reason?: string
  /** For the log, where `detail` leaves out what the client may not know. */
  readonly cause?: string
  /** Further canonical N-Triples for the error body, such as a validation report. */
  readonly report?: string
}

export const problem = (
  failure: ProblemCode,
  detail: string,
  { fields = [], report }: { fields?: Problem['fields']; report?: string } = {},
): Problem => ({ failure, detail, fields, ...(report && { report }) })
