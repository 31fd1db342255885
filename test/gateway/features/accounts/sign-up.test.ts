// Signing up (LinkedDataHub 2.4): the documents, the certificate by download and by e-mail, and refusals.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFileSync, readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { SMTPServer } from 'smtp-server'
import t, { type Test } from 'tap'
import { mailboxHolder } from '../../../../gateway/agents/mailbox.js'
import { parseSettings } from '../../../../gateway/configuration/settings.js'
import { readApplicant } from '../../../../gateway/features/accounts/sign-up-form.js'
import { blankNode, iri, quad } from '../../../../gateway/rdf/graph.js'
import type { GraphStore } from '../../../../gateway/stores/store.js'
import type { Answer, Send } from '../../../support/client.js'
import { forEachStore, row, rowsOf } from '../../../support/stores.js'
import { accept, makeWorld, ttl, type World } from '../../../support/world.js'
import { quickest, until } from '../../../support/wait.js'

const run = promisify(execFile)
const FOAF = 'http://xmlns.com/foaf/0.1/'
const ACL = 'http://www.w3.org/ns/auth/acl#'
const CERT = 'http://www.w3.org/ns/auth/cert#'
const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
const PASSWORD = 'correct horse'

interface Form {
  readonly given?: string
  readonly family?: string
  readonly mailbox?: string
  readonly country?: string
  readonly passwords?: readonly string[]
}

/** The fields of the reference's form, in the same order. */
function form(base: string, { given = 'Ada', family = 'Lovelace', mailbox, country, passwords }: Form): string {
  const XSD_STRING = 'http://www.w3.org/2001/XMLSchema#string'
  const [password, again] = passwords ?? [PASSWORD, PASSWORD]
  const optional = (value: string | undefined, ...fields: [string, string][]): [string, string][] =>
    value === '' ? [] : fields
  const fields: [string, string][] = [
    ['rdf', ''],
    ['sb', 'agent'],
    ['pu', RDF_TYPE],
    ['ou', `${FOAF}Person`],
    ['pu', `${FOAF}primaryTopic`],
    ['ob', 'agent'],
    ...optional(country, ['pu', `${FOAF}based_near`], ['ou', country ?? 'http://www.wikidata.org/entity/Q35']),
    ...optional(mailbox, ['pu', `${FOAF}mbox`], ['ol', mailbox ?? 'ada@example.org']),
    ...optional(family, ['pu', `${FOAF}familyName`], ['ol', family], ['lt', XSD_STRING]),
    ...optional(given, ['pu', `${FOAF}givenName`], ['ol', given], ['lt', XSD_STRING]),
    ['pu', 'http://www.w3.org/ns/auth/cert#key'],
    ['ob', 'key'],
    ['sb', 'key'],
    ['pu', 'https://w3id.org/atomgraph/linkeddatahub/admin/acl#password'],
    ...optional(password, ['ol', password!], ['lt', XSD_STRING]),
    ['pu', 'https://w3id.org/atomgraph/linkeddatahub/admin/acl#password'],
    ...optional(again, ['ol', again!], ['lt', XSD_STRING]),
    ['sb', 'doc'],
    ['pu', RDF_TYPE],
    ['ou', 'https://www.w3.org/ns/ldt/document-hierarchy#Item'],
    ['pu', 'http://purl.org/dc/terms/description'],
    ['lt', XSD_STRING],
    ['pu', 'http://rdfs.org/sioc/ns#has_container'],
    ['ou', `${base}admin/acl/agents/`],
    ['pu', 'http://purl.org/dc/terms/title'],
    ['ol', 'Ada'],
    ['pu', `${FOAF}primaryTopic`],
    ['ob', 'agent'],
  ]
  return new URLSearchParams(fields).toString()
}

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }
const filled = (world: World, asked: Form): Send => ({ fields: FORM, body: form(world.base, asked) })
const post = (world: World, asked: Form, query = '?download=true'): Promise<Answer> =>
  world.as('anonymous')('POST', `/admin/sign%20up${query}`, filled(world, asked))

async function agents(world: World): Promise<number> {
  const query = `SELECT ?g WHERE { GRAPH ?g { ?s ?p ?o } FILTER(REGEX(STR(?g), "/acl/(agents|public-keys|authorizations)/.")) } GROUP BY ?g`
  const fields = { 'Content-Type': 'application/sparql-query', Accept: 'application/sparql-results+json' }
  const { text } = await world.as('owner')('POST', '/admin/sparql', { fields, body: query })
  return (JSON.parse(text) as { results: { bindings: unknown[] } }).results.bindings.length
}

void t.test('sign-up', async (t) => {
  await forEachStore(t, 'sign-up', async (t, makeStores, kind) => {
    const { endUser, admin } = await makeStores()
    const world = await makeWorld(t, { endUser, admin })
    const row = rowsOf(t, kind)
    const file = (name: string): string => join(world.folder, name)
    writeFileSync(file('ca.pem'), world.ca)
    const curl = (...args: string[]): Promise<{ stdout: string }> =>
      run('curl', ['--silent', '--show-error', '--cacert', file('ca.pem'), ...args])

    let webId = ''
    await row('the form gives a certificate that openssl opens and curl uses', async (t) => {
      writeFileSync(file('form'), form(world.base, {}))
      const { stdout } = await curl(
        ...['--dump-header', '-', '--output', file('cert.p12'), '--data-binary', `@${file('form')}`],
        `${world.base}admin/sign%20up?download=true`,
      )
      t.match(stdout, /^HTTP\/1\.1 200 /)
      t.match(stdout, /^Content-Type: application\/x-pkcs12\r$/m)
      t.match(stdout, /^Content-Disposition: attachment; filename=cert\.p12\r$/m)
      t.match(stdout, /^Cache-Control: no-store\r$/m)
      await run('openssl', ['pkcs12', '-in', file('cert.p12'), '-passin', `pass:${PASSWORD}`, '-nodes', '-out', file('cert.pem')]) // prettier-ignore
      const { stdout: names } = await run('openssl', ['x509', '-in', file('cert.pem'), '-noout', '-ext', 'subjectAltName']) // prettier-ignore
      webId = /URI:(\S+)/.exec(names)![1]!
      t.match(webId, new RegExp(`^${world.base}admin/acl/agents/[0-9a-f-]{36}/#this$`))
      const own = await curl('--cert', file('cert.pem'), '--dump-header', '-', `${world.base}admin/access?this=${world.base}`) // prettier-ignore
      t.match(own.stdout, /^HTTP\/1\.1 200 /)
      t.ok(own.stdout.includes(`<${webId}>; rel="http://www.w3.org/ns/auth/acl#agent"`))
    })

    await row('the documents are those of the reference, public to read, and the secretary delegates', async (t) => {
      const path = new URL(webId).pathname
      const agent = await world.as('anonymous')('GET', path, accept('application/n-triples'))
      t.equal(agent.status, 200)
      for (const part of [
        `<${webId}> <${FOAF}givenName> "Ada"`,
        `<${webId}> <${FOAF}familyName> "Lovelace"`,
        // Design 3: anonymous clients see no mailbox.
        `<${webId}> <${FOAF}mbox_sha1sum> "${createHash('sha1').update('mailto:ada@example.org').digest('hex')}"`,
        `<${webId}> <${FOAF}based_near> <http://www.wikidata.org/entity/Q35>`,
        `<${world.secretaryWebId}> <http://www.w3.org/ns/auth/acl#delegates> <${webId}>`,
        `<http://www.w3.org/ns/auth/acl#owner> <${world.secretaryWebId}>`,
      ]) {
        t.ok(agent.text.includes(part), part)
      }
      const key = /cert#key> <([^#]+)#this>/.exec(agent.text)![1]!
      t.equal((await world.as('anonymous')('GET', new URL(key).pathname)).status, 200)
      t.notOk(agent.text.includes(PASSWORD))
    })

    await row('a mailbox that was never sent an e-mail proves no identity', async (t) => {
      const place = { store: admin, base: `${world.base}admin/` }
      t.equal(await mailboxHolder(place, 'ada@example.org'), undefined)
    })
    await row('a new agent may not write its own profile, since it could write rules there', async (t) => {
      const write = `-HContent-Type: text/turtle`
      const data = `<#me> a <http://www.w3.org/ns/auth/acl#Authorization> .`
      const { stdout } = await curl('--cert', file('cert.pem'), '--output', '/dev/null', '--write-out', '%{http_code}', '-XPOST', write, '--data-binary', data, webId.split('#')[0]!) // prettier-ignore
      t.equal(stdout, '403')
    })

    const before = await agents(world)
    const rows: [name: string, asked: Form, reason: RegExp][] = [
      ['no given name', { given: '' }, /given name is missing/],
      ['no family name', { family: '' }, /family name is missing/],
      ['a name in two lines', { given: 'Ada\nL' }, /given name has to be/],
      ['no mailbox', { mailbox: '' }, /mailbox is missing/],
      ['an invalid mailbox', { mailbox: 'ada@@example.org' }, /has to be an e-mail address/],
      ['no country', { country: '' }, /country is missing/],
      ['passwords that differ', { mailbox: 'b@example.org', passwords: ['secret-1', 'secret-2'] }, /not the same/],
      ['a short password', { mailbox: 'b@example.org', passwords: ['12345', '12345'] }, /fewer than 6/],
      ['no password', { mailbox: 'b@example.org', passwords: ['', ''] }, /password is missing/],
      ['a password that is not ASCII', { mailbox: 'b@example.org', passwords: ['pässwort', 'pässwort'] }, /ASCII/],
    ]
    for (const [name, asked, reason] of rows) {
      await row(`${name} → 422 with the reason, and a report`, async (t) => {
        const { status, text } = await post(world, asked)
        t.equal(status, 422)
        t.match(text, reason)
        t.match(text, /ValidationReport/)
        t.notMatch(text, /secret-1|12345|pässwort/)
      })
    }
    await row('all errors are reported at once', async (t) => {
      const { text } = await post(world, { given: '', mailbox: '', passwords: ['1', '1'] })
      for (const reason of [/given name/, /mailbox/, /fewer than 6/]) t.match(text, reason)
    })
    await row(
      'without ?download and without a mail server: 400 with the fix, and no document is written',
      async (t) => {
        const { status, text } = await post(world, { mailbox: 'c@example.org' }, '')
        t.equal(status, 400)
        t.match(text, /Add \?download/)
      },
    )
    await row('refused requests have written no document', async (t) => t.equal(await agents(world), before))

    await row('other triples in the request are ignored: no rule, no membership', async (t) => {
      const owners = `${world.base}admin/acl/groups/owners/#this`
      const { status } = await world.as('anonymous')('POST', '/admin/sign%20up?download', ttl(`
        @prefix foaf: <${FOAF}> . @prefix acl: <http://www.w3.org/ns/auth/acl#> .
        <#a> a foaf:Person, acl:Authorization ; foaf:givenName "Eve" ; foaf:familyName "E" ; foaf:mbox <mailto:eve@example.org> ;
          foaf:based_near <http://www.wikidata.org/entity/Q35> ; acl:mode acl:Control ; acl:agentClass foaf:Agent ;
          <http://www.w3.org/ns/auth/cert#key> [ <https://w3id.org/atomgraph/linkeddatahub/admin/acl#password> "123456" ] .
        <${owners}> foaf:member <#a> .`)) // prettier-ignore
      t.equal(status, 200)
      const answer = await world.as('anonymous')('GET', '/admin/acl/groups/owners/')
      t.equal(answer.status, 403)
      const stored = (await admin.read([...(await graphsOf(admin, 'mailto:eve@example.org'))][0]!)) as string
      t.notMatch(stored, /Authorization|Control|member/)
    })

    await row('with ?download a mailbox named by others gets the same answer: it is not verified', async (t) => {
      const namesOf = ({ rawFields }: Answer): string[] => rawFields.filter((_, i) => i % 2 === 0)
      const first = await post(world, { mailbox: 'new@example.org' })
      for (const mailbox of ['ada@example.org', 'ADA@EXAMPLE.ORG', 'new@example.org']) {
        const again = await post(world, { mailbox })
        t.same([again.status, namesOf(again)], [200, namesOf(first)], mailbox)
      }
      t.equal((await graphsOf(admin, 'mailto:new@example.org')).length, 2)
      t.equal(await mailboxHolder({ store: admin, base: `${world.base}admin/` }, 'new@example.org'), undefined)
    })
    await row('a form of more than 64 kB → 413', async (t) => {
      const send = ttl(`<> <http://e/p> "${'a'.repeat(65_536)}" .`)
      t.equal((await world.as('anonymous')('POST', '/admin/sign%20up?download', send)).status, 413)
      t.equal((await world.as('stranger')('POST', '/access/request', send)).status, 413)
    })
    await row('many at once: a few are served, the others get 503 with Retry-After', async (t) => {
      const answers = await Promise.all([1, 2, 3, 4, 5, 6].map((i) => post(world, { mailbox: `m${i}@example.org` })))
      const statuses = answers.map(({ status }) => status)
      t.ok(statuses.includes(200))
      t.ok(statuses.includes(503))
      t.ok(answers.every(({ status, fields }) => status === 200 || fields['retry-after'] !== undefined))
    })
    await row('a name that looks like DER in hexadecimal is a name', async (t) => {
      t.equal((await post(world, { given: '#xyz', mailbox: 'hash@example.org' })).status, 200)
    })
    await row('no password is in the log', async (t) => t.notMatch(JSON.stringify(world.log), PASSWORD))
  })

  await row(t, 'none', 'after a write that fails halfway, no document remains', async (t) => {
    const { endUser, admin } = await embedded(t)
    let failing = false
    const failures: GraphStore = {
      ...admin,
      replace: (graph, content, call) =>
        failing && graph.includes('/acl/agents/')
          ? Promise.resolve({ failure: 'store.refused', detail: 'no', fields: [] })
          : admin.replace(graph, content, call),
    }
    const world = await makeWorld(t, { endUser, admin: failures })
    const before = await agents(world)
    failing = true
    t.equal((await post(world, {})).status, 502)
    t.equal(await agents(world), before)
    failing = false
    t.equal((await post(world, {})).status, 200)
  })

  await row(t, 'none', 'the settings of the mail server have to be complete', async (t) => {
    const faults = (...flags: string[]): number => {
      const settings = parseSettings(flags, {})
      return 'faults' in settings ? settings.faults.length : 0
    }
    t.equal(faults('--smtp-url', 'smtps://user:password@mail.example.org', '--smtp-from', 'a@example.org'), 0)
    t.equal(faults('--smtp-url', 'smtp://mail.example.org'), 1)
    t.equal(faults('--smtp-from', 'a@example.org'), 1)
    t.equal(faults('--smtp-to', 'a@example.org'), 1)
    t.equal(faults('--smtp-url', 'https://mail.example.org', '--smtp-from', 'nobody'), 2)
  })

  await row(t, 'none', '16,000 keys in a form are refused at once', async (t) => {
    const subject = blankNode('a')
    const keys = Array.from({ length: 16_000 }, (_, i) => quad(subject, iri(`${CERT}key`), blankNode(`k${i}`)))
    const took = await quickest(1_000, () => {
      const read = readApplicant([quad(subject, iri(RDF_TYPE), iri(`${FOAF}Person`)), ...keys])
      t.match(read, { failure: 'constraint.violated', detail: /more than 2 keys/ })
    })
    t.ok(took < 1_000)
  })

  await row(t, 'none', '--sign-up off: 403 for everyone, and the owner’s agents stay', async (t) => {
    const world = await makeWorld(t, await embedded(t), { flags: ['--sign-up', 'off'] })
    const { status, text } = await post(world, {})
    t.equal(status, 403)
    t.match(text, /Ask the owner/)
    t.equal((await world.as('owner')('GET', '/')).status, 200)
  })

  await row(t, 'none', '--daily-sign-ups: a tenth for one network, then 429 until the day is over', async (t) => {
    const world = await makeWorld(t, await embedded(t), { flags: ['--daily-sign-ups', '20'] })
    const statuses: number[] = []
    for (let i = 0; i < 3; i++) statuses.push((await post(world, {})).status)
    t.same(statuses, [200, 200, 429])
    const refused = await post(world, {})
    t.match(refused.fields['retry-after'], /^\d{5}$/)
    t.equal((await post(world, { given: '' })).status, 422, 'mistakes are still reported')
    world.passTime(86_400_000)
    t.equal((await post(world, {})).status, 200)
  })

  await row(t, 'none', '--daily-access-requests: the same for requests for access', async (t) => {
    const world = await makeWorld(t, await embedded(t), { flags: ['--daily-access-requests', '20'] })
    const wanted = `[] a <${ACL}Authorization> ; <${ACL}accessTo> <${world.base}> ; <${ACL}mode> <${ACL}Read> .`
    const statuses: number[] = []
    for (const name of ['stranger', 'reader', 'writer']) statuses.push((await world.as(name)('POST', '/access/request', ttl(wanted))).status) // prettier-ignore
    t.same(statuses, [200, 200, 429])
  })

  await row(t, 'none', '--sign-up invited: the same answer, an agent only for invited mailboxes', async (t) => {
    const { letters, flags } = await mailServer(t)
    const stores = await embedded(t)
    const world = await makeWorld(t, stores, { flags: [...flags, '--sign-up', 'invited'] })
    const invitation = '<#this> <urn:triplegate:access#invites> <mailto:ada@example.org> .'
    t.equal((await world.as('owner')('PUT', '/admin/acl/invitations/', ttl(invitation))).status, 201)
    t.equal((await world.as('anonymous')('GET', '/admin/acl/invitations/')).status, 403)
    t.equal((await post(world, {})).status, 403, 'with ?download nothing proves the mailbox')
    const before = await agents(world)
    t.equal((await post(world, { mailbox: 'eve@example.org' }, '')).status, 201)
    t.match(letters[0], /by invitation/)
    t.equal(await agents(world), before)
    t.equal((await post(world, { mailbox: 'Ada@example.org' }, '')).status, 201)
    t.match(letters[1], /cert\.p12/)
    t.type(await mailboxHolder({ store: stores.admin, base: `${world.base}admin/` }, 'ada@example.org'), 'string')
  })

  await row(
    t,
    'none',
    'by e-mail: 201, and the certificate is attached; a mailbox that has an agent gets the same answer',
    async (t) => {
      let refusing = false
      const { letters, flags } = await mailServer(t, () => refusing)
      const stores = await embedded(t)
      const world = await makeWorld(t, stores, { flags })
      const place = { store: stores.admin, base: `${world.base}admin/` }
      const shown = ({ status, rawFields, text }: Answer): unknown => [status, rawFields.filter((_, i) => rawFields[i - (i % 2)] !== 'Date'), text] // prettier-ignore
      t.equal((await post(world, {})).status, 200)
      t.equal(await mailboxHolder(place, 'ada@example.org'), undefined, 'a download does not reserve the mailbox')
      const answer = await post(world, {}, '')
      t.equal(answer.status, 201)
      t.equal(answer.fields.location, undefined)
      const holder = await mailboxHolder(place, 'Ada@example.org')
      t.match(letters[0]!.replaceAll('=\r\n', ''), holder!)
      t.match(letters[0], /^To: ada@example\.org\r$/m)
      t.notMatch(
        letters[0]!.split('Content-Disposition')[0],
        /Ada|Lovelace/,
        'no text of the applicant: the mailbox may be a stranger’s',
      )
      const attached = /filename=cert\.p12\r\n(?:[^\r\n]+\r\n)*\r\n([A-Za-z0-9+/=\r\n]+)/.exec(letters[0]!)![1]!
      writeFileSync(join(world.folder, 'mailed.p12'), Buffer.from(attached, 'base64'))
      await run('openssl', ['pkcs12', '-in', join(world.folder, 'mailed.p12'), '-passin', `pass:${PASSWORD}`, '-nodes', '-out', join(world.folder, 'mailed.pem')]) // prettier-ignore
      t.match(readFileSync(join(world.folder, 'mailed.pem'), 'utf8'), /BEGIN PRIVATE KEY/)

      const before = await agents(world)
      const began = performance.now()
      t.same(shown(await post(world, { mailbox: 'Ada@example.org' }, '')), shown(answer))
      t.ok(performance.now() - began > 990, 'the answer leaves at a whole second')
      t.match(letters[1], /^To: Ada@example\.org\r$/m)
      t.match(letters[1]!.replaceAll('=\r\n', ''), holder!)
      t.notMatch(letters[1], /cert\.p12/)
      t.equal(await agents(world), before)
      t.equal(await mailboxHolder(place, 'ada@example.org'), holder)
      refusing = true
      t.equal((await post(world, { mailbox: 'nobody@example.org' }, '')).status, 502)
      t.equal(await agents(world), before, 'after a refused e-mail no document remains')
      refusing = false

      const wanted = `[] a <http://www.w3.org/ns/auth/acl#Authorization> ; <http://www.w3.org/ns/auth/acl#accessTo> <${world.base}> ; <http://www.w3.org/ns/auth/acl#mode> <http://www.w3.org/ns/auth/acl#Read> .`
      t.equal((await world.as('stranger')('POST', '/access/request', ttl(wanted))).status, 200)
      await until(() => letters.length >= 3)
      t.match(letters[2], /^To: boss@example\.org\r$/m)
      t.match(letters[2], /acl\/agents\/stranger/)
    },
  )
})

async function mailServer(t: Test, isRefusing = () => false): Promise<{ letters: string[]; flags: string[] }> {
  const letters: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: (_address, _session, done) => done(isRefusing() ? new Error('no such mailbox') : null),
    onData: (stream, _session, done) => {
      let letter = ''
      stream.on('data', (bytes: Buffer) => (letter += bytes.toString()))
      stream.on('end', () => {
        letters.push(letter)
        done()
      })
    },
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.teardown(() => new Promise<void>((closed) => server.close(closed)))
  const { port } = server.server.address() as AddressInfo
  const flags = ['--smtp-url', `smtp://127.0.0.1:${port}`, '--smtp-from', 'data@example.org', '--smtp-to', 'boss@example.org'] // prettier-ignore
  return { letters, flags }
}

async function embedded(t: Test): Promise<{ endUser: GraphStore; admin: GraphStore }> {
  const { openEmbeddedStore } = await import('../../../../gateway/stores/embedded-store.js')
  const [endUser, admin] = await Promise.all([openEmbeddedStore('end-user'), openEmbeddedStore('admin')])
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  return { endUser, admin }
}

async function graphsOf(store: GraphStore, object: string): Promise<string[]> {
  const answer = await store.query(`SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s <${FOAF}mbox> <${object}> } }`, 'text/csv')
  let csv = ''
  for await (const bytes of answer as AsyncIterable<Uint8Array>) csv += Buffer.from(bytes).toString()
  return csv.trim().split(/\r?\n/).slice(1)
}
