// Expected failures: the closed list of problems, their statuses, and the function that makes one. request/respond.ts
// writes a problem as a body (spec 2.2). A throw is a bug and becomes `internal`.

/** Every expected failure and its status (spec 7, design 3). */
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
  /** For anonymous clients at the store's own URLs. */
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
  /** RDF 1.2 terms, and the store does not support them. */
  'content.rdf-version': 422,
  'query.syntax': 400,
  'query.function': 400,
  'update.syntax': 400,
  'update.form': 422,
  'update.failed': 502,
  /** An update, or the shapes of a document, take too much work: retrying would not help. */
  'update.time': 413,
  'precondition.failed': 412,
  'precondition.required': 428,
  'constraint.violated': 422,
  'constraint.unusable': 500,
  'store.unreachable': 503,
  'store.overloaded': 503,
  'store.failed': 502,
  /** The store has certainly not done what was requested. */
  'store.refused': 502,
  'store.time': 504,
  /** The graph does not fit into memory; it can be streamed. */
  'store.too-large': 502,
  /** The store has the graph, but not as N-Triples that can be read. */
  'store.unreadable': 502,
  /** The embedded store's memory is exhausted. */
  'store.full': 507,
  'store.in-doubt': 503,
  /** A write was decided several times, and each time the state changed before it was carried out. */
  'write.outdated': 503,
  'history.full': 503,
  'history.failed': 503,
  /** The journal could not be written, and it is unknown whether the change will be made. */
  'history.in-doubt': 502,
  /** The disk of the history would be left with too little room. */
  'history.no-room': 507,
  /** A file cannot be written, or its disk would be left with too little room. */
  'files.failed': 503,
  'files.full': 507,
  'files.other-content': 409,
  'range.unsatisfiable': 416,
  /** An ontology, or one of its imports, cannot be read. */
  'ontology.failed': 502,
  'package.unusable': 422,
  'mail.failed': 502,
  'server.closing': 503,
  'server.overloaded': 503,
  /** The client's daily share is used up. */
  'share.daily': 429,
  /** The Linked Data proxy: a forbidden URL, a failing server, a slow server, a URL that leads back to this gateway. */
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

/** A failure with an HTTP status. `detail` never contains anything that the client may not know. */
export interface Problem extends Failure<ProblemCode> {
  /** Response fields of the problem (`Allow`, `Retry-After`, `Location` …). */
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** The store's explanation of a 400, in one line. Only for agents who may see everything that it could mention. */
  readonly reason?: string
  /**
   * The write may have been carried out all the same: a proxy may give this answer although the store has the request.
   */
  readonly isUnsure?: true
  /** For the log: what `detail` must not tell the client. */
  readonly cause?: string
  /** More canonical N-Triples for the error body, such as a validation report. */
  readonly report?: string
}

export const problem = (
  failure: ProblemCode,
  detail: string,
  { fields = [], report }: { fields?: Problem['fields']; report?: string } = {},
): Problem => ({ failure, detail, fields, ...(report && { report }) })
