// The methods of documents and graphs, and the media types that each accepts. Everything else depends on rights.
import type { Member } from '../gateway.js'
import type { Field } from '../http/exchange.js'
import { mediaTypesOf, RDF_FORMATS } from '../http/media-type.js'
import { ACCEPT_POST } from '../rdf/read.js'
import { DOCUMENT_METHODS, READ_METHODS } from './respond.js'

/** In the form of an Allow field. Some documents have fewer methods for everyone (spec 4.1). */
export function allowedOn({ application, dataspace }: Member, document: string): string {
  if (dataspace.protectedDocuments.has(document)) return READ_METHODS
  return document === application.base ? DOCUMENT_METHODS.replace(', DELETE', '') : DOCUMENT_METHODS
}

/** For a graph of the store that is not a document (SPARQL 1.1 Graph Store HTTP Protocol). */
export const GRAPH_METHODS = 'GET, HEAD, POST, PUT, DELETE, OPTIONS'
export const GRAPH_ACCEPTS: readonly Field[] = [['Accept-Post', ACCEPT_POST]]

/** LDP §7.1 and RFC 5789 §3.1. */
export const DOCUMENT_ACCEPTS: readonly Field[] = [
  ['Accept-Post', ACCEPT_POST],
  ['Accept-Patch', 'application/sparql-update'],
]

/** Sent with a document: only the formats that it is served in. OPTIONS lists everything that may be sent. */
export const SHOWN_ACCEPTS: readonly Field[] = [
  ['Accept-Post', mediaTypesOf(RDF_FORMATS)],
  ['Accept-Patch', 'application/sparql-update'],
]
