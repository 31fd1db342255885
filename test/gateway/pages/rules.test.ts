// Rules that cover more than one document, and groups: no button on one document removes them.
import t from 'tap'
import { openEmbeddedStore } from '../../../gateway/stores/embedded-store.js'
import { rowsOf } from '../../support/stores.js'
import { makeWorld, ttl } from '../../support/world.js'

const PREFIXES = `@prefix acl: <http://www.w3.org/ns/auth/acl#> . @prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix dh: <https://www.w3.org/ns/ldt/document-hierarchy#> . `
const HTML = { Accept: 'text/html' }

void t.test('rules about access', async (t) => {
  const [endUser, admin] = await Promise.all([openEmbeddedStore('documents'), openEmbeddedStore('admin')])
  t.teardown(() => Promise.all([endUser.close(), admin.close()]))
  const world = await makeWorld(t, { endUser, admin }, {})
  const { base, as } = world
  const owner = as('owner')
  await owner('PUT', '/c/', ttl(`${PREFIXES} <> a dh:Container .`))
  for (const path of ['/c/d/', '/c/e/']) await owner('PUT', path)
  const row = rowsOf(t, 'embedded')
  const [here, other] = [`${base}c/d/`, `${base}c/e/`]
  const rule = (targets: string, mode = 'Read', name = 'this'): string =>
    `<#${name}> a acl:Authorization ; acl:agentClass foaf:Agent ; acl:mode acl:${mode} ; ${targets} .`
  // prettier-ignore
  const rows: readonly (readonly [name: string, rules: string, covers: RegExp | undefined])[] = [
    ['this document',                      rule(`acl:accessTo <${here}>`),                                            undefined],
    ['this document, in two rules',        rule(`acl:accessTo <${here}>`) + rule(`acl:accessTo <${here}>`, 'Append', 'b'), undefined],
    ['two documents',                      rule(`acl:accessTo <${here}>, <${other}>`),                                /1 other address</],
    ['its type',                           rule('acl:accessToClass dh:Item'),                                         /all documents of type[^]*Item</],
    ['this document and a type',           rule(`acl:accessTo <${here}> ; acl:accessToClass dh:Container`),           /this document<[^]*all documents of type[^]*Container</],
    ['everything below the container',     rule(`acl:default <${base}c/>`),                                           /everything below[^]*\/c\/</],
    ['another rule in the same document',  rule(`acl:accessTo <${here}>`) + rule(`acl:accessTo <${other}>`, 'Read', 'b'), /1 other address</],
  ]
  for (const [name, rules, covers] of rows) {
    await row(`a rule about ${name}`, async (t) => {
      const path = '/admin/acl/authorizations/tested/'
      const url = `${base}${path.slice(1)}`
      t.ok((await owner('PUT', path, ttl(PREFIXES + rules))).status < 300)
      t.equal((await as('anonymous')('GET', '/c/d/')).status, 200)
      const page = await owner('GET', `/access?this=${here}`, { fields: HTML })
      t.equal(page.text.includes(`${url}?form=delete`), covers === undefined, 'Revoke')
      t.equal(page.text.includes(`${url}?form=edit`), covers !== undefined, 'Change the rule')
      if (covers) t.match(page.text, covers)
      const form = await owner('GET', `${path}?form=delete`, { fields: HTML })
      t.equal(/name="covered"/.test(form.text), covers !== undefined)
      const remove = async (more: Record<string, string>): Promise<number> => {
        const tag = /name="if-match" value="([^"]*)"/.exec(form.text)![1]!.replaceAll('&quot;', '"')
        const body = String(new URLSearchParams({ 'if-match': tag, ...more }))
        const fields = { 'Content-Type': 'application/x-www-form-urlencoded', Origin: world.origin, ...HTML }
        return (await owner('POST', `${path}?form=delete`, { fields, body })).status
      }
      if (covers) {
        t.equal(await remove({}), 400)
        t.equal(await remove({ covered: '' }), 400)
        t.equal((await as('anonymous')('GET', '/c/d/')).status, 200, 'the rule stays')
      }
      t.equal(await remove({ covered: covers ? 'all' : '' }), 303)
      t.equal((await as('anonymous')('GET', '/c/d/')).status, 403)
    })
  }
  await row('a group that rules name: its page says who loses what', async (t) => {
    const path = '/admin/acl/groups/tested/'
    const group = (members: string): string => `${PREFIXES}<#this> a foaf:Group ; foaf:name "Tested" ${members}.`
    const naming = `<#this> a acl:Authorization ; acl:agentGroup <${base}admin/acl/groups/tested/#this> ; acl:mode acl:Read ; acl:accessTo <${here}> .`
    t.ok((await owner('PUT', '/admin/acl/authorizations/tested/', ttl(PREFIXES + naming))).status < 300)
    const form = async (members: string): Promise<string> => {
      t.ok((await owner('PUT', path, ttl(group(members)))).status < 300)
      return (await owner('GET', `${path}?form=delete`, { fields: HTML })).text
    }
    t.notMatch(await form(''), /name="covered"/, 'nobody loses a right')
    const text = await form('; foaf:member <urn:a>, <urn:b> ')
    t.match(text, /group that access rules name. Its members \(2\) lose their rights[^]*\/c\/d\/[^]*name="covered"/)
    const more = Array.from({ length: 8 }, (_, i) => ` ; acl:agent <urn:agent:${i}>`).join('')
    const many = naming.replace(' .', `${more} .`)
    t.ok((await owner('PUT', '/admin/acl/authorizations/tested/', ttl(PREFIXES + many))).status < 300)
    t.match(await form('; foaf:member <urn:a> '), /members \(1\)/, 'among many subjects of a rule')
    await owner('DELETE', '/admin/acl/authorizations/tested/')
    t.notMatch(await form('; foaf:member <urn:a> '), /name="covered"/, 'no rule names it')
  })
  await row('rules with Control cover the administration, and cannot be removed from a document there', async (t) => {
    const page = await owner('GET', `/admin/access?this=${base}admin/acl/authorizations/full-control/`, {
      fields: HTML,
    })
    t.match(page.text, 'the whole administration')
    t.notMatch(page.text, 'authorizations/full-control/?form=delete')
  })
})
