// WebID-TLS (spec 5): which certificates prove which WebID, by what profiles say about their keys.
import { webcrypto, X509Certificate } from 'node:crypto'
import { Parser } from 'n3'
import t from 'tap'
import {
  makeClientCertificate,
  makeClientKeys,
  makeServerCertificate,
} from '../../../gateway/agents/make-certificate.js'
import { failure } from '../../../policies/failure.js'
import { readClientCertificate } from '../../../policies/identity/client-certificate.js'
import { makeWebIdVerifier, type ProfileFailure, type Verification } from '../../../policies/identity/webid.js'
import { foreignCertificate } from '../../support/certificates.js'

const NOW = Date.UTC(2026, 10, 27)
const [PROFILE, KEYS] = ['https://people.example/ann', 'https://keys.example/ann']
const WEBID = `${PROFILE}#me`
const derOf = (pem: string): Uint8Array => new X509Certificate(pem).raw

/** Turtle of a document, or the reason why it cannot be read. */
type Documents = Readonly<Record<string, string | ProfileFailure>>

const PREFIXES = `@prefix cert: <http://www.w3.org/ns/auth/cert#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n`

/** A verifier over these documents, which are listed in `read` whenever one is read. */
function makeWorld(documents: Documents, lifetimes: { lifetime?: number; failureLifetime?: number } = {}) {
  const [clock, read]: [{ now: number }, string[]] = [{ now: NOW }, []]
  const verifier = makeWebIdVerifier({
    ...lifetimes,
    now: () => clock.now,
    isOwn: (url) => url.host === 'own.example',
    async readProfile(document) {
      read.push(document)
      const found = documents[document] ?? failure('profile-unavailable', 'Not found.')
      return typeof found === 'string' ? new Parser({ baseIRI: document }).parse(PREFIXES + found) : found
    },
  })
  const verify = (der: Uint8Array, maxAge?: number): Verification | undefined | Promise<Verification> =>
    verifier.verify(der, { network: () => '192.0.2.0', ...(maxAge !== undefined && { maxAge: () => maxAge }) })
  return { verify, verifier, clock, read }
}

const outcomeOf = (found: Verification | undefined): string | undefined =>
  found && ('webId' in found ? found.webId : found.failure)

void t.test('a certificate proves its WebID if the profile lists its key', async (t) => {
  const der = derOf(await makeClientCertificate(WEBID, 'Ann', NOW))
  const { modulus } = readClientCertificate(der)!.key!
  const other = readClientCertificate(derOf(await makeClientCertificate(WEBID, 'Bob', NOW)))!.key!.modulus
  const key = (hex: string, exponent = '65537'): string => `cert:modulus """${hex}""" ; cert:exponent ${exponent}`
  const own = `<#me> cert:key [ ${key(modulus)} ] .`
  const listing = (name: string): string => `<#me> cert:key <${name}> .`
  const many = (count: number, host = 'keys'): string =>
    Array.from({ length: count }, (_, n) => listing(`https://${host}.example/${n}#key`)).join('\n')

  const rows: readonly [what: string, documents: Documents, expected: string][] = [
    ['the key', { [PROFILE]: own }, WEBID],
    ['no key', { [PROFILE]: '<#me> a <urn:Person> .' }, 'key-not-in-profile'],
    ['another key', { [PROFILE]: `<#me> cert:key [ ${key(other)} ] .` }, 'key-not-in-profile'],
    ['the key of another agent', { [PROFILE]: `<#other> cert:key [ ${key(modulus)} ] .` }, 'key-not-in-profile'],
    ['two keys', { [PROFILE]: `<#me> cert:key [ ${key(other)} ] , [ ${key(modulus)} ] .` }, WEBID],
    ['another exponent', { [PROFILE]: `<#me> cert:key [ ${key(modulus, '3')} ] .` }, 'key-not-in-profile'],
    ['no exponent', { [PROFILE]: `<#me> cert:key [ cert:modulus "${modulus}" ] .` }, 'key-not-in-profile'],
    ['no modulus', { [PROFILE]: '<#me> cert:key [ cert:exponent 65537 ] .' }, 'key-not-in-profile'],
    ['an exponent that is no number', { [PROFILE]: `<#me> cert:key [ ${key(modulus, '"0x10001"')} ] .` }, 'key-not-in-profile'], // prettier-ignore
    ['hex in capitals', { [PROFILE]: `<#me> cert:key [ ${key(modulus.toUpperCase())} ] .` }, WEBID],
    ['hex with spaces and lines', { [PROFILE]: `<#me> cert:key [ ${key(` ${modulus.slice(0, 9)}\n ${modulus.slice(9)} `)} ] .` }, WEBID], // prettier-ignore
    ['hex with leading zeros', { [PROFILE]: `<#me> cert:key [ ${key(`00${modulus}`)} ] .` }, WEBID],
    ['spaces around the exponent', { [PROFILE]: `<#me> cert:key [ ${key(modulus, '" 65537 "')} ] .` }, WEBID],
    ['a part of the key', { [PROFILE]: `<#me> cert:key [ ${key(modulus.slice(2))} ] .` }, 'key-not-in-profile'],
    ['a modulus that is an IRI', { [PROFILE]: `<#me> cert:key [ cert:modulus <${modulus}> ; cert:exponent 65537 ] .` }, 'key-not-in-profile'], // prettier-ignore
    ['a fourth spelling', { [PROFILE]: `<#me> cert:key [ cert:modulus "1", "2", "3", "${modulus}" ; cert:exponent 65537 ] .` }, WEBID], // prettier-ignore
    ['a fifth spelling', { [PROFILE]: `<#me> cert:key [ cert:modulus "1", "2", "3", "4", "${modulus}" ; cert:exponent 65537 ] .` }, 'key-not-in-profile'], // prettier-ignore
    ['another property of the key', { [PROFILE]: `<#me> cert:key <#k> . <#k> cert:label "1", "2", "3", "4" ; ${key(modulus)} .` }, WEBID], // prettier-ignore
    ['a named key in the profile', { [PROFILE]: `${listing('#key')} <#key> ${key(modulus)} .` }, WEBID],
    ['a key document', { [PROFILE]: listing(`${KEYS}#key`), [KEYS]: `<#key> ${key(modulus)} .` }, WEBID],
    ['a key document about another key', { [PROFILE]: listing(`${KEYS}#key`), [KEYS]: `<#other> ${key(modulus)} .` }, 'key-not-in-profile'], // prettier-ignore
    ['a key document that is missing', { [PROFILE]: listing(`${KEYS}#key`) }, 'key-not-in-profile'],
    ['a key document that cannot be read now', { [PROFILE]: listing(`${KEYS}#key`), [KEYS]: failure('unreachable', '') }, 'unreachable'], // prettier-ignore
    ['a missing key document before the key', { [PROFILE]: `${listing(`${KEYS}#key`)} ${own}` }, WEBID],
    ['two key documents', { [PROFILE]: many(2), 'https://keys.example/1': `<#key> ${key(modulus)} .` }, WEBID],
    ['a third key document', { [PROFILE]: many(3), 'https://keys.example/2': `<#key> ${key(modulus)} .` }, WEBID],
    ['a fourth key document', { [PROFILE]: many(4), 'https://keys.example/3': `<#key> ${key(modulus)} .` }, 'too-many-keys'], // prettier-ignore
    ['a twentieth key document of this gateway', { [PROFILE]: many(20, 'own'), 'https://own.example/19': `<#key> ${key(modulus)} .` }, WEBID], // prettier-ignore
    ['a twenty-first key document of this gateway', { [PROFILE]: many(21, 'own'), 'https://own.example/20': `<#key> ${key(modulus)} .` }, 'too-many-keys'], // prettier-ignore
    ['one of this gateway after four of others', { [PROFILE]: `${many(4)} ${many(1, 'own')}`, 'https://own.example/0': `<#key> ${key(modulus)} .` }, WEBID], // prettier-ignore
    ['a third of others after four of this gateway', { [PROFILE]: `${many(4, 'own')} ${many(3)}`, 'https://keys.example/2': `<#key> ${key(modulus)} .` }, WEBID], // prettier-ignore
    ['a twentieth key', { [PROFILE]: `${many(19)} ${own}` }, WEBID],
    ['a twenty-first key', { [PROFILE]: `${many(20)} ${own}` }, 'too-many-keys'],
    ['a key document elsewhere than on the web', { [PROFILE]: listing('file:///etc/key'), 'file:///etc/key': `<> ${key(modulus)} .` }, 'key-not-in-profile'], // prettier-ignore
    ['a profile that is missing', {}, 'profile-unavailable'],
    ['a profile whose server does not answer', { [PROFILE]: failure('unreachable', '') }, 'unreachable'],
    ['a profile in a store that fails', { [PROFILE]: failure('store-unavailable', '') }, 'store-unavailable'],
  ]
  for (const [what, documents, expected] of rows) {
    const world = makeWorld(documents)
    t.equal(outcomeOf(await world.verify(der)), expected, what)
    t.equal(world.read[0], PROFILE, `${what}: the profile without the fragment`)
    t.equal(new Set(world.read).size, world.read.length, `${what}: no document is read twice`)
  }
  const world = makeWorld({ [PROFILE]: `${listing('#key')} ${listing('file:///etc/key')}` })
  await world.verify(der)
  t.same(world.read, [PROFILE], 'only other documents of the web are key documents')
  const mixed = makeWorld({ [PROFILE]: `${many(4)} ${many(1, 'own')}` })
  await mixed.verify(der)
  const others = ['https://keys.example/0', 'https://keys.example/1', 'https://keys.example/2']
  t.same(
    mixed.read,
    [PROFILE, 'https://own.example/0', ...others],
    'slow servers do not delay documents of this gateway',
  )
})

void t.test('certificates and WebIDs that are refused without reading a profile', async (t) => {
  const keys = await makeClientKeys()
  const ofWebId = async (webId: string): Promise<Uint8Array> =>
    derOf(await makeClientCertificate(webId, 'Ann', NOW, keys))
  const rows: readonly (readonly [what: string, der: Uint8Array, expected: string | undefined])[] = [
    ['bytes that are no certificate', Uint8Array.of(1, 2, 3), 'malformed-certificate'],
    ['no URI', derOf(await makeServerCertificate(['localhost'], NOW)), undefined],
    ...(await Promise.all(
      [
        'HTTPS://people.example/ann#me',
        'https:ann',
        'https://ann@people.example/#me',
        'https://:secret@people.example/#me',
        'https://PEOPLE.example/ann#me',
        'https://people.example/a/../ann#me',
        'https://people.example:443/ann#me',
        'https://people.example/ann?{x}#me',
        'https://people.example/ann#m|e',
      ].map(async (webId) => [webId, await ofWebId(webId), 'malformed-webid'] as const),
    )),
    ...(await Promise.all(
      ['urn:ann', 'ftp://people.example/ann#me', 'httpsx://people.example/ann#me', 'http//people.example/ann#me'].map(
        async (uri) => [uri, await ofWebId(uri), undefined] as const,
      ),
    )),
    [
      'an expired certificate without a WebID',
      derOf(await makeClientCertificate('urn:ann', 'Ann', 0, keys)),
      undefined,
    ],
    ['an expired certificate with one', derOf(await makeClientCertificate(WEBID, 'Ann', 0, keys)), 'expired'],
  ]
  for (const [what, der, expected] of rows) {
    const { verify, read } = makeWorld({})
    t.equal(outcomeOf(await verify(der)), expected, what)
    t.same(read, [], what)
  }
})

void t.test('the WebID is the first http or https URI of the certificate, among names of any kind', async (t) => {
  const pem = await makeClientCertificate(WEBID, 'Ann', NOW)
  const { modulus } = readClientCertificate(derOf(pem))!.key!
  const profile = `<#me> cert:key [ cert:modulus "${modulus}" ; cert:exponent 65537 ] .`
  const windows = 'URI:tag:microsoft.com,2022-09-14:sid:S-1-5-21-1'
  const own = [`URI:${WEBID}`]
  const rows: readonly [names: readonly string[], expected: string | undefined][] = [
    [own, WEBID],
    [[windows, 'email:ann@corp.example'], undefined],
    [['otherName:1.3.6.1.4.1.311.20.2.3;UTF8:ann@corp.example', 'dirName:dn'], undefined],
    [['DNS:people.example', 'otherName:1.3.6.1.4.1.311.20.2.3;UTF8:URI:https://x.example/', ...own], WEBID],
    [['URI:urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6', windows, ...own, 'URI:https://other.example/'], WEBID],
    [['URI:https://PEOPLE.example/ann', ...own], 'malformed-webid'],
    [['URI:https://other.example/#me', ...own], 'profile-unavailable'],
  ]
  for (const [names, expected] of rows) {
    const { verify, clock } = makeWorld({ [PROFILE]: profile })
    clock.now = Date.now() + 60_000
    t.equal(outcomeOf(await verify(derOf(foreignCertificate(pem, names)))), expected, names.join())
  }
})

void t.test('a certificate without an RSA key proves nothing', async (t) => {
  const keys = await webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
  const der = derOf(await makeClientCertificate(WEBID, 'Ann', NOW, keys))
  t.equal(outcomeOf(await makeWorld({ [PROFILE]: '<#me> cert:key [] .' }).verify(der)), 'no-rsa-key')
})

void t.test('RFC 5280 §4.1.2.5: a certificate counts from its first to its last second', async (t) => {
  const der = derOf(await makeClientCertificate(WEBID, 'Ann', NOW))
  const { validFrom, validTo, key } = readClientCertificate(der)!
  const { verify, clock } = makeWorld({
    [PROFILE]: `<#me> cert:key [ cert:modulus "${key!.modulus}" ; cert:exponent 65537 ] .`,
  })
  for (const [time, expected] of [
    [validFrom - 1, 'not-yet-valid'],
    [validFrom, WEBID],
    [validTo, WEBID],
    [validTo + 1, 'expired'],
  ] as const) {
    clock.now = time
    t.equal(outcomeOf(await verify(der)), expected)
  }
})

void t.test('how long an outcome is remembered', async (t) => {
  const der = derOf(await makeClientCertificate(WEBID, 'Ann', NOW))
  const own = `<#me> cert:key [ cert:modulus "${readClientCertificate(der)!.key!.modulus}" ; cert:exponent 65537 ] .`
  const lifetimes = { lifetime: 100, failureLifetime: 10 }
  const rows: readonly [what: string, profile: string | ProfileFailure, forMs: number][] = [
    ['a proof', own, 100],
    ['a refusal', '', 10],
    ['a server that does not answer', failure('unreachable', ''), 0],
    ['too many profiles', failure('busy', ''), 0],
    ['a store that fails', failure('store-unavailable', ''), 0],
  ]
  for (const [what, profile, forMs] of rows) {
    const { verify, clock, read } = makeWorld({ [PROFILE]: profile }, lifetimes)
    const first = await verify(der)
    if (forMs > 0) {
      clock.now += forMs - 1
      t.equal(verify(Uint8Array.from(der)), first, `${what}: at once on another connection, without reading`)
      clock.now++
    }
    t.same(await verify(Uint8Array.from(der)), first)
    t.equal(read.length, 2, `${what}: read again after ${forMs} ms`)
  }

  const { verify, verifier, clock, read } = makeWorld({ [PROFILE]: own }, lifetimes)
  await verify(der)
  clock.now += 5
  await verify(der, 5)
  t.equal(read.length, 1, 'young enough for the caller')
  await verify(der, 4)
  t.equal(read.length, 2, 'too old for the caller')
  verifier.forget('https://people.example/bob')
  await verify(der)
  t.equal(read.length, 2, 'another document has changed')
  verifier.forget(PROFILE)
  await verify(der)
  t.equal(read.length, 3, 'the profile has changed')
})

void t.test('a failure that says nothing about the key does not end a remembered proof', async (t) => {
  const der = derOf(await makeClientCertificate(WEBID, 'Ann', NOW))
  const { modulus } = readClientCertificate(der)!.key!
  const own = `<#me> cert:key [ cert:modulus "${modulus}" ; cert:exponent 65537 ] .`
  const rows: readonly [profile: string | ProfileFailure, expected: string][] = [
    [failure('unreachable', ''), WEBID],
    [failure('profile-unavailable', ''), WEBID],
    ['', 'key-not-in-profile'],
  ]
  for (const [profile, expected] of rows) {
    const documents: Record<string, string | ProfileFailure> = { [PROFILE]: own }
    const { verify, clock } = makeWorld(documents)
    await verify(der)
    clock.now += 5
    documents[PROFILE] = profile
    const now = outcomeOf(await verify(der, 4))
    t.equal(now, typeof profile === 'string' ? expected : profile.failure, 'a caller who wants a younger proof')
    t.equal(outcomeOf(await verify(der)), expected)
  }
})

void t.test('each certificate has its own outcome, and at most 512 requests wait for one', async (t) => {
  const [der, other] = [derOf(await makeClientCertificate(WEBID, 'Ann', NOW)), derOf(await makeClientCertificate(WEBID, 'Bob', NOW))] // prettier-ignore
  const { modulus } = readClientCertificate(der)!.key!
  const own = `<#me> cert:key [ cert:modulus "${modulus}" ; cert:exponent 65537 ] .`
  const { verify } = makeWorld({ [PROFILE]: own })
  t.equal(outcomeOf(await verify(der)), WEBID)
  t.equal(outcomeOf(await verify(other)), 'key-not-in-profile')
  t.equal(outcomeOf(await verify(der)), WEBID)

  const busy = makeWorld({ [PROFILE]: own })
  const outcomes = await Promise.all(Array.from({ length: 513 }, () => busy.verify(der)))
  t.same(outcomes.map(outcomeOf), [...Array<string>(512).fill(WEBID), 'busy'])
  t.equal(busy.read.length, 1)
})
