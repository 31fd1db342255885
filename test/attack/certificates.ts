// The certificates of attackers: many WebIDs with one key, since creating a key costs more than the attack.
import { makeClientCertificate, makeClientKeys } from '../../gateway/agents/make-certificate.js'

/** PEM with certificate and key for each of the WebIDs. */
export async function certificatesFor(webIds: readonly string[]): Promise<string[]> {
  const keys = await makeClientKeys()
  return Promise.all(webIds.map((webId) => makeClientCertificate(webId, 'attacker', Date.now(), keys)))
}
