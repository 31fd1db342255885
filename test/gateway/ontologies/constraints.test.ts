// Constraints of SPIN and of SHACL-SPARQL on writes (LinkedDataHub 6.7, spec 4.1).
import t from 'tap'
import { forEachStore, rowsOf } from '../../support/stores.js'
import { accept, makeWorld, ttl, turtle, update } from '../../support/world.js'

const PREFIXES = `@prefix spin: <http://spinrdf.org/spin#> . @prefix sp: <http://spinrdf.org/sp#> . @prefix sh: <http://www.w3.org/ns/shacl#> .
  @prefix ldh: <https://w3id.org/atomgraph/linkeddatahub#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
  @prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . `
const of = (constraint: string): string =>
  `<urn:C> spin:constraint [ ${constraint} ; rdfs:label "Not so" ] . <urn:Sub> rdfs:subClassOf <urn:C> .`
const MISSING = of('a ldh:MissingPropertyValue ; sp:arg1 <urn:p>')
const ONE = of('a ldh:PropertyCardinality ; sp:arg1 <urn:p>')
const TWO = of('a ldh:PropertyCardinality ; sp:arg1 <urn:p> ; sp:arg2 2')
const BLOCKS = of('a ldh:InvalidContentBlockType')
const ask = (text: string): string => of(`a sp:Ask ; sp:text """${text}"""`)
const sparql = (text: string, more = ''): string =>
  `<urn:S> sh:targetClass <urn:C> ; sh:sparql [ sh:message "Not so" ; sh:select """${text}""" ${more} ] . <urn:Sub> rdfs:subClassOf <urn:C> .`
const starts = (validator: string): string =>
  `<urn:Starts> a sh:ConstraintComponent ; sh:parameter [ sh:path <urn:x:prefix> ] , [ sh:path <urn:x:flags> ; sh:optional true ] ; ${validator} .
  <urn:S> sh:targetClass <urn:C> ; sh:property [ sh:path <urn:code> ; <urn:x:prefix> "DE" ] .`
const LONGER = sparql('SELECT $this ?value WHERE { $this <urn:from> ?a ; <urn:to> ?value FILTER(?value < ?a) }')

void forEachStore(t, 'constraints', async (t, makeStores, kind) => {
  const world = await makeWorld(t, await makeStores(), { flags: ['--patch-timeout', '2000'] })
  const row = rowsOf(t, kind)
  const owner = world.as('owner')
  const limit = (text: string) => owner('PUT', '/admin/ontologies/limits/', ttl(PREFIXES + text))

  // The gateway evaluates them on the content sent: the kind of store plays no part.
  const rowOfContent = (...of: Parameters<typeof row>) => (kind === 'embedded' ? row(...of) : undefined)
  await rowOfContent('the content that they refuse or accept', async (t) => {
    // prettier-ignore
    const rows: readonly (readonly [name: string, constraint: string, document: string, status: number])[] = [
      ['a value is missing',                        MISSING, '<#x> a <urn:C> .',                                        422],
      ['of a subclass',                             MISSING, '<#x> a <urn:Sub> .',                                      422],
      ['the value exists',                        MISSING, '<#x> a <urn:C> ; <urn:p> 1 .',                            201],
      ['of another class',                          MISSING, '<#x> a <urn:D> .',                                        201],
      ['no value where one is wanted',              ONE,     '<#x> a <urn:C> .',                                        422],
      ['two values where one is wanted',            ONE,     '<#x> a <urn:C> ; <urn:p> 1, 2 .',                         422],
      ['one value',                                 ONE,     '<#x> a <urn:C> ; <urn:p> 1 .',                            201],
      ['two values where two are wanted',           TWO,     '<#x> a <urn:C> ; <urn:p> 1, 2 .',                         201],
      ['a block of another type',                   BLOCKS,  '<#x> a <urn:C> ; rdf:_1 <#y> . <#y> a <urn:D> .',         422],
      ['a block with a right type',                 BLOCKS,  '<#x> a <urn:C> ; rdf:_1 <#y> . <#y> a ldh:Object .',      201],
      ['a block without a type',                    BLOCKS,  '<#x> a <urn:C> ; rdf:_1 <#y> .',                          201],
      ['ASK is true',                               ask('ASK { ?this <urn:p> ?v FILTER(?v > 5) }'), '<#x> a <urn:C> ; <urn:p> 6 .', 422],
      ['ASK is false',                              ask('ASK { ?this <urn:p> ?v FILTER(?v > 5) }'), '<#x> a <urn:C> ; <urn:p> 5 .', 201],
      ['ASK is about the node alone',               ask('ASK { ?this <urn:p> 1 }'), '<#x> a <urn:C> . <#y> <urn:p> 1 .', 201],
      ['a filter in a group of its own',            ask('ASK { { FILTER NOT EXISTS { ?this <urn:p> ?v } } }'), '<#x> a <urn:C> .', 422],
      ['a SELECT of SHACL gives a solution',        LONGER,  '<#x> a <urn:C> ; <urn:from> 5 ; <urn:to> 4 .',            422],
      ['of a subclass, SHACL',                      LONGER,  '<#x> a <urn:Sub> ; <urn:from> 5 ; <urn:to> 4 .',          422],
      ['a SELECT of SHACL gives none',              LONGER,  '<#x> a <urn:C> ; <urn:from> 4 ; <urn:to> 5 .',            201],
      ['prefixes of SHACL',                              `${sparql('SELECT $this WHERE { $this e:p 1 }', '; sh:prefixes <urn:o>')} <urn:o> sh:declare [ sh:prefix "e" ; sh:namespace "urn:"^^xsd:anyURI ] .`, '<#x> a <urn:C> ; <urn:p> 1 .', 422],
      ['one that is deactivated',                   sparql('SELECT $this WHERE { $this ?p ?o }', '; sh:deactivated true'), '<#x> a <urn:C> .', 201],
      ['beside SHACL Core',                         `${MISSING} <urn:S> sh:targetClass <urn:C> ; sh:property [ sh:path <urn:q> ; sh:minCount 1 ] .`, '<#x> a <urn:C> ; <urn:q> 1 .', 422],
      ['SHACL Core and SPARQL met',                              `${MISSING} <urn:S> sh:targetClass <urn:C> ; sh:property [ sh:path <urn:q> ; sh:minCount 1 ] .`, '<#x> a <urn:C> ; <urn:q> 1 ; <urn:p> 1 .', 201],
      ['MINUS in SPIN',                             ask('ASK { ?this a <urn:C> MINUS { ?this <urn:ok> true } }'), '<#x> a <urn:C> ; <urn:ok> true .', 201],
      ['a datatype in a query',                     sparql('SELECT $this ?value { $this <urn:p> ?value FILTER(DATATYPE(?value) != <http://www.w3.org/2001/XMLSchema#int>) }'), '<#x> a <urn:C> ; <urn:p> "1"^^<http://www.w3.org/2001/XMLSchema#int> .', 201],
      ['a spelling in a query',                     sparql('SELECT $this { $this <urn:p> 1 }'), '<#x> a <urn:C> ; <urn:p> 01 .', 201],
      ['a value in a query',                        sparql('SELECT $this ?value { $this <urn:p> ?value FILTER(?value = 1) }'), '<#x> a <urn:C> ; <urn:p> 01 .', 422],
      ['a number of values',                        sparql('SELECT $this (COUNT(?v) AS ?n) WHERE { $this <urn:p> ?v } GROUP BY $this HAVING (COUNT(?v) > 1)'), '<#x> a <urn:C> ; <urn:p> 1, 2 .', 422],
      ['fewer values',                              sparql('SELECT $this (COUNT(?v) AS ?n) WHERE { $this <urn:p> ?v } GROUP BY $this HAVING (COUNT(?v) > 1)'), '<#x> a <urn:C> ; <urn:p> 1 .', 201],
      ['prefixes of an imported ontology',          `${sparql('SELECT $this WHERE { $this e:p 1 }', '; sh:prefixes <urn:o>')} <urn:o> owl:imports <urn:i> . <urn:i> owl:imports <urn:o>, <urn:j> . <urn:j> sh:declare [ sh:prefix "e" ; sh:namespace "urn:"^^xsd:anyURI ] .`, '<#x> a <urn:C> ; <urn:p> 1 .', 422],
      ['a prefix with two namespaces',              `${sparql('SELECT $this WHERE { $this e:p 1 }', '; sh:prefixes <urn:o>')} <urn:o> sh:declare [ sh:prefix "e" ; sh:namespace "urn:" ] , [ sh:prefix "e" ; sh:namespace "urn:x:" ] .`, '<#x> a <urn:C> .', 500],
      ['a warning of a query',                      `${sparql('SELECT $this { }')} <urn:S> sh:severity sh:Warning .`, '<#x> a <urn:C> .', 201],
      ['a query on a property shape',               '<urn:S> sh:targetClass <urn:C> ; sh:property [ sh:path [ sh:inversePath <urn:p> ] ; sh:sparql [ sh:select "SELECT $this ?value { $this $PATH ?value . ?value <urn:q> 1 }" ] ] .', '<#x> a <urn:C> . <#y> <urn:p> <#x> ; <urn:q> 1 .', 422],
      ['a query that reports a failure',            sparql('SELECT $this (true AS ?failure) { }'), '<#x> a <urn:C> .', 500],
      ['superclasses of the ontologies, in a query', sparql('PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> SELECT $this { $this a/rdfs:subClassOf+ <urn:C> }'), '<#x> a <urn:Sub> .', 422],
      ['a blank node, where one is wanted',         '<urn:S> sh:targetClass <urn:C> ; sh:property [ sh:path <urn:p> ; sh:nodeKind sh:BlankNode ] .', '<#x> a <urn:C> ; <urn:p> [ <urn:q> 1 ] .', 201],
      ['an IRI, where a blank node is wanted',      '<urn:S> sh:targetClass <urn:C> ; sh:property [ sh:path <urn:p> ; sh:nodeKind sh:BlankNode ] .', '<#x> a <urn:C> ; <urn:p> <#id0c6a1d0e-9a55-4d0a-8d1c-0123456789ab> .', 422],
      ['a blank node, where an IRI is wanted',      '<urn:S> sh:targetClass <urn:C> ; sh:property [ sh:path <urn:p> ; sh:nodeKind sh:IRI ] .', '<#x> a <urn:C> ; <urn:p> [ <urn:q> 1 ] .', 422],
      ['a query about a blank node',                sparql('SELECT $this ?value { $this <urn:p> ?value FILTER(isBlank($this) && isBlank(?value)) }'), '[] a <urn:C> ; <urn:p> [ <urn:q> 1 ] .', 422],
      ['a query about another blank node',          sparql('SELECT $this { $this <urn:p> 1 }'), '[] a <urn:C> ; <urn:p> 2 . [] <urn:p> 1 .', 201],
      ['an inverse path',                           '<urn:S> sh:targetClass <urn:C> ; sh:property [ sh:path [ sh:inversePath <urn:p> ] ; sh:minCount 1 ] .', '<#x> a <urn:C> . <#y> <urn:p> <#x> .', 201],
      ['an inverse path without a value',           '<urn:S> sh:targetClass <urn:C> ; sh:property [ sh:path [ sh:inversePath <urn:p> ] ; sh:minCount 1 ] .', '<#x> a <urn:C> ; <urn:p> <#y> .', 422],
      ['MINUS',                                     sparql('SELECT $this { $this ?p ?o MINUS { $this <urn:p> 1 } }'), '<#x> a <urn:C> .', 500],
      ['VALUES',                                    sparql('SELECT $this { VALUES ?x { 1 } }'), '<#x> a <urn:C> .', 500],
      ['another value for $this',                   sparql('SELECT $this { BIND(1 AS ?this) }'), '<#x> a <urn:C> .', 500],
      ['a sub-query without $this',                 sparql('SELECT $this { { SELECT ?y { ?y ?p ?o } } }'), '<#x> a <urn:C> .', 500],
      ['$shapesGraph',                              sparql('SELECT $this { FILTER(BOUND($shapesGraph)) }'), '<#x> a <urn:C> .', 500],
      ['a function that is not known',              sparql('SELECT $this { FILTER(<urn:f>($this)) }'), '<#x> a <urn:C> .', 500],
      ['ASK of a component is true',                starts('sh:validator [ sh:ask "ASK { FILTER(STRSTARTS(STR($value), $prefix)) }" ]'), '<#x> a <urn:C> ; <urn:code> "DE-1" .', 201],
      ['ASK of a component is false',               starts('sh:validator [ sh:ask "ASK { FILTER(STRSTARTS(STR($value), $prefix)) }" ]'), '<#x> a <urn:C> ; <urn:code> "DE-1", "FR-1" .', 422],
      ['SELECT of a component finds nothing',       starts('sh:propertyValidator [ sh:select "SELECT $this ?value { $this $PATH ?value FILTER(!STRSTARTS(?value, $prefix)) }" ]'), '<#x> a <urn:C> ; <urn:code> "DE-1" .', 201],
      ['SELECT of a component finds something',     starts('sh:propertyValidator [ sh:select "SELECT $this ?value { $this $PATH ?value FILTER(!STRSTARTS(?value, $prefix)) }" ]'), '<#x> a <urn:C> ; <urn:code> "FR-1" .', 422],
      ['a component for node shapes alone',         starts('sh:nodeValidator [ sh:select "SELECT $this { }" ]'), '<#x> a <urn:C> ; <urn:code> "FR-1" .', 201],
      ['a component in JavaScript',                 starts('sh:validator [ a sh:JSValidator ]'), '<#x> a <urn:C> ; <urn:code> "DE-1" .', 500],
      ['GRAPH',                                     sparql('SELECT $this WHERE { GRAPH ?g { $this ?p ?o } }'), '<#x> a <urn:C> .', 500],
      ['FROM',                                      ask('ASK FROM <urn:g> { ?this ?p ?o }'), '<#x> a <urn:C> .',       500],
      ['SERVICE',                                   ask('ASK { SERVICE <http://127.0.0.1/> { ?this ?p ?o } }'), '<#x> a <urn:C> .', 500],
      ['no SPARQL',                                 ask('ASK {'), '<#x> a <urn:C> .',                                   500],
      ['a constraint of no known kind',             of('a <urn:Unknown>'), '<#x> a <urn:C> .',                          500],
      ['where no node has the class',               of('a <urn:Unknown>'), '<#x> a <urn:D> .',                          201],
    ]
    for (const [name, constraint, document, status] of rows) {
      const limited = await limit(constraint)
      if (limited.status > 201) t.fail(`${name}: ${limited.text}`)
      const answered = await owner('PUT', world.freshPath(), ttl(PREFIXES + document))
      t.equal(answered.status, status, `${name}: ${answered.text}`)
    }
  })

  await row('a 422 describes what violates, and nothing else', async (t) => {
    await limit(`${MISSING} ${LONGER}`)
    const path = world.freshPath()
    const document = `<#x> a <urn:C> ; <urn:from> 5 ; <urn:to> 4 . <#secret> <urn:other> "secret" .`
    const { status, text } = await owner('PUT', path, {
      ...ttl(document),
      fields: { 'Content-Type': 'text/turtle', ...accept('application/n-triples').fields },
    })
    t.equal(status, 422)
    t.match(text, /<http:\/\/spinrdf\.org\/spin#violationRoot> <[^>]*#x>/)
    t.match(text, '<http://spinrdf.org/spin#violationPath> <urn:p>')
    t.match(
      text,
      '<http://www.w3.org/ns/shacl#sourceConstraintComponent> <http://www.w3.org/ns/shacl#SPARQLConstraintComponent>',
    )
    t.match(text, /"Not so"/)
    t.notMatch(text, 'secret')
    t.notMatch(text, 'spin#constraint>')
  })

  await rowOfContent('a blank node stays one for constraints', async (t) => {
    await limit('<urn:S> sh:targetClass <urn:C> ; sh:property [ sh:path <urn:p> ; sh:nodeKind sh:BlankNode ] .')
    const path = world.freshPath()
    t.equal((await owner('PUT', path, ttl('<#x> a <urn:C> ; <urn:p> [ <urn:q> 1 ] .'))).status, 201)
    t.equal(
      (await owner('PATCH', path, update('INSERT { <urn:a> <urn:b> 1 } WHERE { }'))).status,
      204,
      'PATCH of something else',
    )
    const { text } = await owner('GET', path, accept('text/turtle'))
    t.equal((await owner('PUT', path, ttl(text))).status, 200, 'PUT of the document as it was read')
  })

  await rowOfContent('messages (SHACL §5.3.2)', async (t) => {
    const messages = async (constraint: string, document: string): Promise<readonly string[]> => {
      await limit(constraint)
      const fields = { 'Content-Type': 'text/turtle', ...accept('application/n-triples').fields }
      const { text } = await owner('PUT', world.freshPath(), { ...ttl(document), fields })
      return [...text.matchAll(/shacl#resultMessage> (".*"\S*) \./g)].map(([, message]) => message!).sort()
    }
    const large = '<urn:x> a <urn:C> ; <urn:v> 7 .'
    const select = 'sh:select "SELECT $this ?value ?other { $this <urn:v> ?value BIND(?value * 2 AS ?other) }"'
    const of = (more: string) => `<urn:S> sh:targetClass <urn:C> ; sh:sparql [ ${select} ; ${more} ] .`
    t.same(await messages(of('sh:message "{?value} of {$this}, {?other}, {?none}"'), large), [
      '"7 of urn:x, 14, {?none}"',
    ])
    t.same(await messages(of('sh:message "too large"@en, "zu groß"@de'), large), ['"too large"@en', '"zu groß"@de'])
    t.same(await messages(of('a sh:SPARQLConstraint') + '<urn:S> sh:message "of the shape" .', large), [
      '"of the shape"',
    ])
    const own =
      '<urn:S> sh:targetClass <urn:C> ; sh:sparql [ sh:message "no" ; sh:select "SELECT $this (\'own\' AS ?message) { }" ] .'
    t.same(await messages(own, large), ['"own"'])
    const component = (more: string) => starts(`sh:validator [ sh:ask "ASK { FILTER(false) }" ] ; ${more}`)
    const code = '<urn:x> a <urn:C> ; <urn:code> "FR" .'
    t.same(await messages(component('sh:labelTemplate "{?value} starts with {$prefix}"'), code), [
      '"FR starts with DE"',
    ])
    t.same(await messages(component('sh:message "Not {$prefix}"'), code), ['"Not DE"'])
    const count = '<urn:S> sh:targetClass <urn:C> ; sh:property [ sh:path <urn:p> ; sh:minCount 1 ] .'
    t.same(await messages(count, large), ['"Too few values: at least 1"'])
  })

  await rowOfContent('an unusable constraint is named', async (t) => {
    await limit('<urn:S> sh:targetClass <urn:C> ; sh:property [ sh:path <urn:p> ; sh:js [ ] ] .')
    const { status, text } = await owner('PUT', world.freshPath(), ttl('<#x> a <urn:C> .'))
    t.equal(status, 500)
    t.match(text, /sh:js is not supported/)
    t.match(text, /admin\/ontologies\/limits\//)
  })

  await row('every way to write is checked, and a query that never ends is stopped', async (t) => {
    await limit(MISSING)
    const path = world.freshPath()
    t.equal((await owner('PUT', path, ttl('<#x> a <urn:C> ; <urn:p> 1 .'))).status, 201)
    t.equal((await owner('POST', path, ttl('<#y> a <urn:C> .'))).status, 422)
    t.equal((await owner('PATCH', path, update('DELETE WHERE { ?s <urn:p> ?o }'))).status, 422)
    t.equal((await owner('PUT', path, ttl(turtle('"T"')))).status, 200)
    const many = Array.from({ length: 150 }, (_, i) => `<#x> <urn:q> ${i} .`).join(' ')
    await limit(
      ask(
        'ASK { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . FILTER(CONCAT(STR(?c), STR(?f), STR(?i), STR(?l)) = "never") }',
      ),
    )
    const stopped = await owner('PUT', path, ttl(`<#x> a <urn:C> . ${many}`))
    // On a machine that is too busy, the answer is to retry.
    t.match(`${stopped.status} ${stopped.text}`, /^413 [^]*limit of 2 s|^503 [^]*too busy to finish/)
    await limit('<urn:C> rdfs:label "free" .')
    t.equal((await owner('PUT', path, ttl(`<#x> a <urn:C> . ${many}`))).status, 200)
  })
})
