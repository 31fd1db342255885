// The rights of an agent under the limits of an access token.
import t from 'tap'
import { graphRightsWithin, isLimited, writesBeyond } from '../../../gateway/request/token-limits.js'
import { graphRights, type GraphRights } from '../../../policies/authorizations/graph-rights.js'
import { makeAuthorizationIndex } from '../../../policies/authorizations/authorization-index.js'
import type { Reach } from '../../../policies/authorizations/reach.js'
import { ADMIN, authorization, BASE, replaceGraph } from '../../policies/access-facts.js'

const [READS, BELOW, RULES] = [{ readOnly: true }, { readOnly: false, only: `${BASE}c/` }, { readOnly: false, only: `${ADMIN}acl/` }] // prettier-ignore
const FREE = { readOnly: false }
const ALICE = 'https://alice/#me'

void t.test('writes that are not decided on a document', async (t) => {
  const rows = [
    [undefined, 'proxied', false],
    [FREE, 'proxied', false],
    [READS, 'proxied', true],
    [READS, 'endpoint', true],
    [BELOW, 'proxied', true],
    [BELOW, 'endpoint', false],
  ] as const
  for (const [token, kind, isBeyond] of rows) t.equal(writesBeyond(token, { kind }), isBeyond)
  t.same([FREE, READS, BELOW].map(isLimited), [false, true, true])
})

void t.test('the graphs that an agent reaches by SPARQL', async (t) => {
  const index = makeAuthorizationIndex(ADMIN)
  const both = { agent: ALICE, mode: ['Read', 'Write'] }
  replaceGraph(index, `${ADMIN}rules/`, [
    ...authorization('urn:a', { ...both, default: BASE, accessTo: BASE }),
    ...authorization('urn:b', { ...both, default: ADMIN, accessTo: ADMIN }),
  ])
  const rightsIn = (application: Reach['application'], mode: 'Read' | 'Write'): GraphRights => {
    const below = application === 'admin' ? [] : [ADMIN]
    const reach = { application, base: application === 'admin' ? ADMIN : BASE, below, alone: true, isEndpoint: () => false } // prettier-ignore
    return graphRights(index, { reach, agent: ALICE, mode })
  }
  const whole = 'all documents'
  const rows = [
    ['end-user', 'Read', undefined, whole],
    ['end-user', 'Write', FREE, whole],
    ['end-user', 'Read', READS, whole],
    ['end-user', 'Write', READS, []],
    ['end-user', 'Read', BELOW, [BELOW.only]],
    ['end-user', 'Write', BELOW, [BELOW.only]],
    ['end-user', 'Write', { ...BELOW, readOnly: true }, []],
    ['admin', 'Read', READS, whole],
    ['admin', 'Write', READS, []],
    ['admin', 'Read', BELOW, []],
    ['admin', 'Read', RULES, [RULES.only]],
    ['admin', 'Write', RULES, [RULES.only]],
  ] as const
  const fingerprints = new Set<string>()
  for (const [application, mode, token, left] of rows) {
    const rights = graphRightsWithin(rightsIn(application, mode), mode, token)
    const name = `${application} ${mode} ${JSON.stringify(token)}`
    if (left === whole) t.ok(rights.documents, name)
    else {
      const { reach, fingerprint, graphs, prefixes, ...others } = rights
      const nothing = {
        everything: false,
        documents: false,
        others: false,
        defaultGraph: false,
        items: false,
        containers: false,
      }
      t.same([graphs, prefixes, reach.alone], [left, left, false], name)
      t.same(others, { ...nothing, otherPrefixes: [], classes: [], owner: undefined }, name)
      fingerprints.add(fingerprint)
    }
  }
  t.equal(fingerprints.size, 3, 'equal for equal rights')
})
