// The method QUERY (RFC 10008) in tests: Node.js 20.19 does not read it, and answers 400 itself.
import { METHODS } from 'node:http'

export const hasQuery = METHODS.includes('QUERY')

/** POST, which means the same at a SPARQL endpoint, where QUERY is not read. */
export const QUERY_OR_POST = hasQuery ? 'QUERY' : 'POST'

/** The rows with a method that is read. */
export const withReadMethods = <Row extends readonly unknown[]>(rows: readonly Row[]): Row[] =>
  rows.filter((row) => hasQuery || !row.includes('QUERY'))
