// LANG() gives the same text wherever the gateway evaluates an expression: in the store, or on copies of its graphs. Jena
// writes tags as en-GB, other stores as en-gb; documents have en-gb (design 3).
import t from 'tap'
import { forEachStore, rowsOf, WITH_UNION } from '../../../support/stores.js'
import { accept, makeWorld, ttl, update } from '../../../support/world.js'

const CSV = { fields: { Accept: 'text/csv' } }
/** RFC 5646 §2.1.1: before an extension, regions have capitals, and scripts begin with one. */
const TAGS = ['en', 'en-GB', 'zh-Hant-TW', 'zh-yue-HK', 'sr-Latn', 'es-419', 'de-CH-1996', 'sl-rozaj', 'ru-Cyrl-petr1708', 'en-Latn-GB-boont-r-latn-x-us', 'de-DE-u-co-phonebk', 'en-GB-oed', 'en-x-us-latn', 'x-us-latn', 'i-klingon'] // prettier-ignore
const OTHERS = ['EN', 'en-gb', 'ZH-HANT-TW', 'x-US-latn']

void forEachStore(t, { name: 'language tags', kinds: WITH_UNION }, async (t, makeStores, kind) => {
  const { base, as, webIdOf, freshPath } = await makeWorld(t, await makeStores())
  const owner = as('owner')
  const row = rowsOf(t, kind)
  const put = async (path: string, body: string): Promise<void> =>
    void t.match((await owner('PUT', path, ttl(body))).status, /20[014]/, path)
  const send = async (text: string): Promise<void> =>
    void t.equal((await owner('POST', '/sparql', update(text))).status, 200, text)
  /** The rows of a query of one variable. */
  const asked = async (query: string, who: Parameters<typeof as>[0] = 'owner'): Promise<readonly string[]> => {
    const { status, text } = await as(who)('GET', `/sparql?query=${encodeURIComponent(query)}`, CSV)
    return status === 200 ? text.split('\r\n').slice(1, -1).sort() : [text]
  }
  await put('/l/', `<> ${TAGS.map((tag) => `<urn:tagged> "${tag}"@${tag}`).join(' ; ')} .`)
  const graph = `GRAPH <${base}l/>`
  const LANG = 'BIND(LANG(?o) AS ?tag)'
  const ofStore = await asked(`SELECT ?tag { ${graph} { ?s <urn:tagged> ?o ${LANG} } }`)
  t.same(ofStore, kind === 'embedded' ? TAGS.map((tag) => tag.toLowerCase()).sort() : [...TAGS].sort(), 'in a query')

  const MADE: Readonly<Record<string, (made: string) => string>> = {
    'an update that names its graph': (made) =>
      `INSERT { ${graph} { ?s <${made}> ?tag } } WHERE { ${graph} { ?s <urn:tagged> ?o ${LANG} } }`,
    'an update that does not': (made) =>
      `INSERT { GRAPH ?g { ?s <${made}> ?tag } } WHERE { GRAPH ?g { ?s <urn:tagged> ?o ${LANG} } }`,
    'a second operation that does not': (made) =>
      `INSERT DATA { ${graph} { <urn:s> <urn:q> "${made}" } } ; INSERT { GRAPH ?g { ?s <${made}> ?tag } } WHERE { GRAPH ?g { ?s <urn:tagged> ?o ${LANG} } }`,
    'a choice of literals': (made) =>
      `INSERT { ${graph} { ?s <${made}> ?tag } } WHERE { ${graph} { ?s <urn:tagged> ?o BIND(LANG(COALESCE(?none, ?o)) AS ?tag) } }`,
  }
  for (const [i, [name, make]] of Object.entries(MADE).entries()) {
    await row(name, async (t) => {
      await send(make(`urn:made:${i}`))
      t.same(await asked(`SELECT ?tag { ${graph} { ?s <urn:made:${i}> ?tag } }`), ofStore)
    })
  }
  await row('PATCH', async (t) => {
    const text = `INSERT { ?s <urn:patched> ?tag } WHERE { ?s <urn:tagged> ?o ${LANG} }`
    t.equal((await owner('PATCH', '/l/', update(text))).status, 204)
    t.same(await asked(`SELECT ?tag { ${graph} { ?s <urn:patched> ?tag } }`), ofStore)
  })
  await row('a path over a copy', async (t) => {
    await put(
      '/admin/acl/authorizations/l/',
      `@prefix acl: <http://www.w3.org/ns/auth/acl#> . <#this> a acl:Authorization ; acl:mode acl:Read ;
         acl:agent <${webIdOf('stranger')}> ; acl:accessTo <${base}sparql> , <${base}l/> .`,
    )
    const merged = 'FROM <http://www.w3.org/ns/solid/sparql#union-default-graph>'
    const query = `SELECT ?tag ${merged} { <${base}l/> (<urn:none>/<urn:none>)*/<urn:tagged> ?o ${LANG} }`
    t.same(await asked(query, 'stranger'), ofStore)
  })
  await row('a deletion finds what a query finds, and only that', async (t) => {
    for (const tag of [...TAGS, ...OTHERS]) {
      const path = freshPath()
      const [doc, content] = [`GRAPH <${new URL(path, base).href}>`, TAGS.map((one) => `"${one}"@${one}`).join(' , ')]
      await put(path, `<> <urn:tagged> ${content} .`)
      const found = await asked(`SELECT ?o { ${doc} { ?s <urn:tagged> ?o FILTER(LANG(?o) = "${tag}") } }`)
      await send(
        `DELETE { ${doc} { ?s <urn:tagged> ?o } } WHERE { ${doc} { ?s <urn:tagged> ?o FILTER(LANG(?o) = "${tag}") } }`,
      )
      const left = await asked(`SELECT ?o { ${doc} { ?s <urn:tagged> ?o } }`)
      t.same([...found, ...left].sort(), [...TAGS].sort(), tag)
    }
  })
  await row('documents have tags in lower case', async (t) => {
    const { text } = await owner('GET', '/l/', accept('application/n-triples'))
    for (const tag of TAGS) t.match(text, `"${tag}"@${tag.toLowerCase()} .`)
  })
})
