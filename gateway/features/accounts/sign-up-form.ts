// Reads the form of a sign-up (LinkedDataHub 2.4) strictly: its values are written into the admin application, which
// contains the authorizations. Pure.
import { indexBySubject, instancesOf, objectsOf, violated, type Violation } from '../../request/endpoint-rdf.js'
import type { Quad, Term } from '../../rdf/graph.js'
import type { Problem } from '../../problem.js'
import { isMailAddress } from '../../configuration/setting-values.js'
import { CERT, FOAF, LACL, RDF } from '../../rdf/vocabulary.js'

export interface Applicant {
  readonly givenName: string
  readonly familyName: string
  /** The e-mail address, without `mailto:`. */
  readonly mailbox: string
  /** The IRI of a country. */
  readonly basedNear: string
  readonly password: string
}

const LONGEST = 200
const SHORTEST_PASSWORD = 6
/** The most keys; the form sends one. */
const KEYS = 2

/** The one foaf:Person or foaf:Agent, and the password in its cert:key. Everything else in the content is ignored. */
export function readApplicant(triples: readonly Quad[]): Applicant | Problem {
  const content = indexBySubject(triples)
  const [agent, another] = instancesOf(content, FOAF('Person'), FOAF('Agent'))
  if (!agent) return violated([[RDF('type'), 'A foaf:Person is missing.']])
  if (another) return violated([[RDF('type'), 'There is more than one foaf:Person.']])
  const violations: Violation[] = []
  const one = (property: string, name: string, valueOf: (term: Term) => string | undefined, rule: string): string => {
    const [value, ...more] = objectsOf(content, agent, property)
    if (!value) violations.push([property, `The ${name} is missing.`])
    else if (more.some((other) => !other.equals(value))) violations.push([property, `There is more than one ${name}.`])
    else {
      const read = valueOf(value)
      if (read !== undefined) return read
      violations.push([property, `The ${name} ${rule}`])
    }
    return ''
  }
  const applicant = {
    givenName: one(FOAF('givenName'), 'given name', nameOf, NAME_RULE),
    familyName: one(FOAF('familyName'), 'family name', nameOf, NAME_RULE),
    mailbox: one(FOAF('mbox'), 'mailbox', mailboxOf, 'has to be an e-mail address.'),
    basedNear: one(FOAF('based_near'), 'country', resourceOf, 'has to be an http or https IRI.'),
  }
  const keys = objectsOf(content, agent, CERT('key'))
  if (keys.length > KEYS) violations.push([CERT('key'), `There are more than ${KEYS} keys.`])
  const passwords = keys.slice(0, KEYS).flatMap((key) => objectsOf(content, key, LACL('password')))
  const password = [...new Set(passwords.map(({ value }) => value))]
  const wrong = passwordViolation(password)
  if (wrong !== undefined) violations.push([LACL('password'), wrong])
  return violations.length > 0 ? violated(violations) : { ...applicant, password: password[0]! }
}

const NAME_RULE = `has to be 1 to ${LONGEST} characters on one line.`

function nameOf({ termType, value }: Term): string | undefined {
  const name = value.trim()
  return termType === 'Literal' && name !== '' && value.length <= LONGEST && !/\p{Cc}/u.test(name) ? name : undefined
}

function mailboxOf({ value }: Term): string | undefined {
  const address = value.replace(/^mailto:/i, '')
  return isMailAddress(address) ? address : undefined
}

const resourceOf = ({ termType, value }: Term): string | undefined =>
  termType === 'NamedNode' && /^https?:\/\//.test(value) && value.length <= LONGEST ? value : undefined

/** The two password fields of the form give a single triple if they are equal. */
function passwordViolation([password, ...more]: readonly string[]): string | undefined {
  if (password === undefined) return 'The password is missing.'
  if (more.length > 0) return 'The passwords are not the same.'
  if (password.length < SHORTEST_PASSWORD) return `The password has fewer than ${SHORTEST_PASSWORD} characters.`
  if (password.length > LONGEST) return `The password has more than ${LONGEST} characters.`
  return /^[\x20-\x7e]+$/.test(password) ? undefined : 'The password has characters other than printable ASCII.'
}
