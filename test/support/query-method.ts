// The method QUERY (RFC 10008) in tests: Node.js 20.19 does not support it, and answers 400 itself.
import { METHODS } from 'node:http'

export const hasQuery = METHODS.includes('QUERY')

/** QUERY, or POST if QUERY is not supported: at a SPARQL endpoint both mean the same. */
export const QUERY_OR_POST = hasQuery ? 'QUERY' : 'POST'

/** The rows whose methods are supported. */
export const withReadMethods = <Row extends readonly unknown[]>(rows: readonly Row[]): Row[] =>
  rows.filter((row) => hasQuery || !row.includes('QUERY'))
