// In charge of the large contents and documents that attacks use.
import { many } from '../support/growth.js'
import { ttl } from '../support/world.js'
import type { Send } from '../support/client.js'
import { expected, type Place } from './place.js'

/** Content below the limit of a request. */
export const large = (property: string): Send => ttl(many(1_900_000, (i) => `<#${i}> <urn:${property}> "${i}" .\n`))

/** A document of three such contents, some 15 MB of N-Triples. */
export async function largeDocument(place: Place): Promise<string> {
  const [owner, path] = [place.as('owner'), place.path()]
  await expected(owner('PUT', path, large('a')), 201)
  for (const property of ['b', 'c']) await expected(owner('POST', path, large(property)), 204)
  return path
}
