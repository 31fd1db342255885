// The large contents and documents that attacks use.
import { many } from '../support/growth.js'
import { ttl, update } from '../support/world.js'
import type { Send } from '../support/client.js'
import { expected, type Place } from './place.js'

/** Content below the limit of a request. */
export const large = (property: string): Send => ttl(many(1_900_000, (i) => `<#${i}> <urn:${property}> "${i}" .\n`))

/** A document of about 7 MB of N-Triples, in parts that even a busy machine reads in time. */
export async function largeDocument(place: Place): Promise<string> {
  const [owner, path] = [place.as('owner'), place.path()]
  await expected(owner('PUT', path), 201)
  for (let piece = 0; piece < 5; piece++)
    await expected(owner('POST', path, ttl(many(550_000, (i) => `<#${i}> <urn:${piece}> "${i}" .\n`))), 204)
  return path
}

/**
 * Starts the threads for large contents and lets them grow to their full size. They stay, so an attack must not start
 * more of them.
 */
export async function startedThreads(place: Place): Promise<string> {
  const [owner, path] = [place.as('owner'), place.path()]
  await expected(owner('PUT', path, large('a')), 201)
  await expected(owner('PATCH', path, update('DELETE { ?s <urn:a> 1 } WHERE { ?s <urn:a> 1 }')), 204)
  await expected(owner('DELETE', path), 204)
  return ''
}
