// The fields that SHACL shapes require, and documents divided into fields and text.
import fc from 'fast-check'
import t from 'tap'
import { dividedBy } from '../../../../gateway/features/forms/form-fields.js'
import { typedFields } from '../../../../gateway/features/forms/submitted-fields.js'
import { shapeFormsIn, type ShapeForms } from '../../../../gateway/features/forms/shape-fields.js'
import { errorPage } from '../../../../gateway/pages/error-page.js'
import { textsIn } from '../../../../gateway/pages/languages.js'
import { ENGLISH_TEXTS } from '../../../../gateway/pages/texts.js'
import { isFailure } from '../../../../gateway/problem.js'
import { graphOf, iri, literal, nTriplesOf, text, triple, typed } from '../../../../gateway/rdf/graph.js'
import { readGraph } from '../../../../gateway/rdf/read.js'
import { XSD } from '../../../../gateway/rdf/vocabulary.js'
import { messagesAbout } from '../../../../gateway/request/report-messages.js'
import { rowsOf } from '../../../support/stores.js'

const PREFIXES = `@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
  @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . `

async function canonical(turtle: string): Promise<string> {
  const read = await readGraph(Buffer.from(PREFIXES + turtle), 'text/turtle', 'urn:d', {})
  if (isFailure(read)) throw new Error(read.detail)
  return nTriplesOf(graphOf(read))
}

const of = (property: string): string =>
  `<urn:S> sh:targetClass <urn:C> ; sh:property [ sh:path <http://e/p> ; ${property} ] .`

const chain = (n: number): string =>
  `<urn:S> sh:node <urn:0> . ${Array.from({ length: n - 1 }, (_, i) => `<urn:${i}> sh:node <urn:${i + 1}> .`).join(' ')}`

void t.test('fields of shapes', async (t) => {
  const row = rowsOf(t, 'none')
  // prettier-ignore
  const rows: readonly (readonly [name: string, shapes: string, fields: string])[] = [
    ['a datatype',                       of('sh:datatype xsd:integer'),                                        'P xsd:integer 0-∞'],
    ['cardinality and a name',           of('sh:name "Size" ; sh:minCount 1 ; sh:maxCount 1'),                 'Size xsd:string 1-1'],
    ['a label of the property',          `${of('sh:maxCount 2')} <http://e/p> rdfs:label "Colour" .`,               'Colour xsd:string 0-2'],
    ['IRIs',                             of('sh:nodeKind sh:IRI'),                                             'P iri 0-∞'],
    ['of a class',                       of('sh:class <urn:D>'),                                               'P iri 0-∞'],
    ['sh:in',                            of('sh:in ("a" <urn:b>)'),                                            'P term 0-∞ a|urn:b'],
    ['a boolean',                        of('sh:datatype xsd:boolean'),                                        'P term 0-∞ true|false'],
    ['a language',                       of('sh:datatype rdf:langString ; sh:languageIn ("de" "fr")'),         'P @de 0-∞'],
    ['two shapes for one property',      `${of('sh:minCount 1')} <urn:T> sh:targetClass <urn:C> ; sh:property [ sh:path <http://e/p> ; sh:nodeKind sh:IRI ; sh:maxCount 3 ] .`, 'P iri 1-3'],
    ['in their order',                   '<urn:S> sh:targetClass <urn:C> ; sh:property [ sh:path <http://e/q> ; sh:order 2 ], [ sh:path <http://e/p> ; sh:order 1 ] .', 'P xsd:string 0-∞, Q xsd:string 0-∞'],
    ['in their order, which may be negative', '<urn:S> sh:targetClass <urn:C> ; sh:property [ sh:path <http://e/q> ; sh:order 0 ], [ sh:path <http://e/p> ; sh:order -1.5 ], [ sh:path <http://e/r> ] .', 'P xsd:string 0-∞, Q xsd:string 0-∞, R xsd:string 0-∞'],
    ['of a superclass',                  '<urn:S> sh:targetClass <urn:A> ; sh:property [ sh:path <http://e/p> ] . <urn:C> rdfs:subClassOf <urn:B> . <urn:B> rdfs:subClassOf <urn:A> .', 'P xsd:string 0-∞'],
    ['of another class',                 '<urn:S> sh:targetClass <urn:D> ; sh:property [ sh:path <http://e/p> ] .',  ''],
    ['a class that is its own shape',    '<urn:C> a rdfs:Class, sh:NodeShape ; sh:property [ sh:path <http://e/p> ] .', 'P xsd:string 0-∞'],
    ['by sh:node',                       '<urn:S> sh:targetClass <urn:C> ; sh:node <urn:T> . <urn:T> sh:property [ sh:path <http://e/p> ] .', 'P xsd:string 0-∞'],
    ['a circular sh:node ends',           '<urn:S> sh:targetClass <urn:C> ; sh:node <urn:S> ; sh:property [ sh:path <http://e/p> ] .', 'P xsd:string 0-∞'],
    ['a circular list ends',       `${of('sh:in <urn:l>')} <urn:l> rdf:first "a" ; rdf:rest <urn:l> .`,  'P term 0-∞ a'],
    ['a circular list without members ends', `${of('sh:in <urn:l>')} <urn:l> rdf:rest <urn:l> .`,              'P xsd:string 0-∞'],
    ['sh:node through many shapes',      `<urn:S> sh:targetClass <urn:C> . ${chain(10)} <urn:9> sh:property [ sh:path <http://e/p> ] .`, 'P xsd:string 0-∞'],
    ['deactivated',                      of('sh:deactivated true'),                                            ''],
    ['a path of two steps',              '<urn:S> sh:targetClass <urn:C> ; sh:property [ sh:path (<http://e/p> <http://e/q>) ] .', ''],
    ['such a path in a stored document',  '<urn:S> sh:targetClass <urn:C> ; sh:property [ sh:path <http://e/o/#id0c6a1d0e-9a55-4d0a-8d1c-0123456789ab> ] . <http://e/o/#id0c6a1d0e-9a55-4d0a-8d1c-0123456789ab> sh:inversePath <http://e/p> .', ''],
    ['a choice of kinds',                of('sh:or ([ sh:datatype xsd:date ] [ sh:datatype xsd:gYear ])'),     ''],
    ['blank nodes',                      of('sh:nodeKind sh:BlankNode'),                                       ''],
  ]
  for (const [name, shapes, fields] of rows) {
    await row(name, async (t) => {
      const found = shapeFormsIn(await canonical(shapes))!.fieldsOf('urn:x', ['urn:C'], [])
      const shown = (found ?? []).map(({ label, kind, min, max, options }) => {
        const count = `${min}-${max === Infinity ? '∞' : max}`
        const values = options ? [options.map(({ value }) => value).join('|')] : []
        return [label, kind.replace(XSD(''), 'xsd:'), count, ...values].join(' ')
      })
      t.equal(shown.join(', '), fields)
    })
  }
  await row('no shapes: no form', async (t) => {
    t.equal(shapeFormsIn(await canonical('<urn:C> rdfs:label "C" .')), undefined)
  })
})

void t.test('texts of shapes in the language of the page', async (t) => {
  const row = rowsOf(t, 'none')
  const texts = (property: string): string => `${property} "Name"@de, "A name"@en, "Nom"@fr`
  // prettier-ignore
  const rows: readonly (readonly [name: string, shapes: string, language: string, label: string, description?: string])[] = [
    ['sh:name',                           of(texts('sh:name')),                                   'de',    'Name'],
    ['sh:name',                           of(texts('sh:name')),                                   'en',    'A name'],
    ['a language that it lacks: English', of(texts('sh:name')),                                   'pl',    'A name'],
    ['a region',                          of('sh:name "Colour"@en-gb, "Farbe"@de-at'),            'de',    'Farbe'],
    ['a page with a region',              of(texts('sh:name')),                                   'fr-CA', 'Nom'],
    ['neither',                           of('sh:name "Nombre"@es, "Nome"@it'),                   'de',    'Nombre'],
    ['no language',                       of('sh:name "Name"'),                                   'de',    'Name'],
    ['sh:description',                    of(`sh:name "N" ; ${texts('sh:description')}`),         'de',    'N', 'Name'],
    ['the label of the property',         `${of('')} <http://e/p> ${texts('rdfs:label')} .`,      'de',    'Name'],
  ]
  for (const [name, shapes, language, label, description] of rows) {
    await row(`${name}, for ${language}`, async (t) => {
      const [field] = shapeFormsIn(await canonical(shapes), language)?.fieldsOf('urn:x', ['urn:C'], []) ?? []
      t.match(field, { label, description })
    })
  }
  await row('the label of a class', async (t) => {
    const forms = shapeFormsIn(await canonical(`${of('')} <urn:C> ${texts('rdfs:label')} .`), 'de')
    t.same(forms?.classes, [{ iri: 'urn:C', label: 'Name' }])
  })
  const path = 'sh:resultPath <http://e/p>'
  const result = (about: string): string => `[] a sh:ValidationResult ; ${texts('sh:resultMessage')} ; ${about} .`
  await row('messages of a report, beside the field', async (t) => {
    const report = await canonical(result(path))
    t.same(
      ['de', 'en', 'pl'].map((language) => messagesAbout(report, language)('http://e/p')),
      [['Name'], ['A name'], ['A name']],
    )
  })
  // prettier-ignore
  const shown: readonly (readonly [name: string, about: string, language: string, text: RegExp])[] = [
    ['in German',                   path,                                                        'de', /<li>.*P<\/a>: Name /],
    ['in English',                  path,                                                        'en', /<li>.*P<\/a>: A name /],
    ['a path of two steps',         'sh:resultPath ( <http://e/p> <http://e/q> )',               'de', /<li>Name /],
    ['such a path that was stored', 'sh:resultPath <http://e/o/#id0c6a1d0e-9a55-4d0a-8d1c-0123456789ab>', 'de', /<li>Name /],
  ]
  for (const [name, about, language, text] of shown) {
    await row(`messages of a report on the page of an error: ${name}`, async (t) => {
      const site = { base: 'http://e/', home: 'http://e/', admin: 'http://e/admin/', title: 'e', styles: [], icon: '', logo: '', script: '' } // prettier-ignore
      const frame = { site, texts: textsIn(language, {}), isIdentified: true }
      const report = await canonical(result(about))
      t.match(errorPage({ frame, status: 422, phrase: '', detail: '', report, requestId: '' }).html, text)
    })
  }
})

void t.test('a document divided into fields and text, and put together again', async (t) => {
  const row = rowsOf(t, 'none')
  const shapes = await canonical(
    `<urn:S> sh:targetClass <urn:C> ; sh:property [ sh:path <urn:s> ], [ sh:path <urn:i> ; sh:datatype xsd:integer ],
      [ sh:path <urn:r> ; sh:nodeKind sh:IRI ], [ sh:path <urn:l> ; sh:datatype rdf:langString ], [ sh:path <urn:o> ; sh:in ("a" 1) ] .`,
  )
  const forms = shapeFormsIn(shapes)!
  const DOCUMENT = 'https://ex.org/d/'
  const value = fc.oneof(
    fc
      .string({ unit: 'binary' })
      .filter((s) => s.isWellFormed())
      .map(text),
    fc.string().map((s) => literal(s, 'en')),
    fc.string().map((s) => literal(s, 'de')),
    fc.string().map((s) => typed(s, XSD('integer'))),
    fc.constantFrom(text('a'), typed('1', XSD('integer')), iri('urn:x'), iri('https://ex.org/é')),
  )
  const content = fc.array(
    fc.record({
      subject: fc.constantFrom(DOCUMENT, `${DOCUMENT}#this`, 'urn:other'),
      property: fc.constantFrom('urn:s', 'urn:i', 'urn:r', 'urn:l', 'urn:o', 'urn:else'),
      value,
    }),
    { maxLength: 12 },
  )
  await row('nothing is lost or changed, whatever the values are', (t) => {
    let inFields = 0
    fc.assert(
      fc.property(content, (triples) => {
        const type = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
        const whole = graphOf([
          ...triples.map(({ subject, property, value }) => triple(subject, property, value)),
          ...[DOCUMENT, `${DOCUMENT}#this`, 'urn:other'].map((subject) => triple(subject, type, iri('urn:C'))),
        ])
        const { sections, rest } = dividedBy(forms, DOCUMENT, [], nTriplesOf(whole))
        const sent = sections.flatMap(({ fields }) =>
          fields.flatMap(({ name, values }) => values.map((one): [string, string] => [name, one])),
        )
        inFields += sent.length
        const { lines, flaws } = typedFields(new URLSearchParams(sent), DOCUMENT, ENGLISH_TEXTS)
        const again = new Set([...rest.split('\n'), ...lines.split('\n')].filter((line) => line !== ''))
        return flaws.size === 0 && again.size === whole.lines.length && whole.lines.every((line) => again.has(line))
      }),
      { numRuns: 100 },
    )
    t.ok(inFields > 10, `fields hold ${inFields} values`)
  })
  await row('only the first 20 resources of a document get fields', (t) => {
    const lines = (count: number, more: string): string =>
      Array.from({ length: count }, (_, i) => `<${DOCUMENT}#${i}> ${more} .\n`).join('')
    const type = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:C>'
    let asked = 0
    const counted: ShapeForms = { ...forms, fieldsOf: (...of) => (asked++, forms.fieldsOf(...of)) }
    t.equal(dividedBy(counted, DOCUMENT, [], lines(2000, type)).sections.length, 20)
    t.equal(asked, 20)
  })
  await row('values that do not fit into a form stay in the text', (t) => {
    const whole = Array.from({ length: 3000 }, (_, i) => `<${DOCUMENT}> <urn:s> "${i}" .\n`).join('')
    const type = `<${DOCUMENT}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:C> .\n`
    const { sections, rest } = dividedBy(forms, DOCUMENT, [], type + whole)
    t.same(sections[0]!.fields.map(({ shape }) => shape.path).sort(), ['urn:i', 'urn:l', 'urn:o', 'urn:r'])
    t.equal(rest.split('\n').filter((line) => line.includes('urn:s')).length, 3000)
  })
  // prettier-ignore
  const rows: readonly (readonly [name: string, field: string, value: string, line: string | undefined])[] = [
    ['an IRI',                 'value  urn:p iri', 'https://ex.org/', '<https://ex.org/d/> <urn:p> <https://ex.org/> .'],
    ['a relative IRI',         'value  urn:p iri', 'there', undefined],
    ['an IRI that would end early', 'value  urn:p iri', 'urn:x> . <urn:y> <urn:p> <urn:z', undefined],
    ['a text that would end early', 'value #this urn:p http://www.w3.org/2001/XMLSchema#string', 'a" .', '<https://ex.org/d/#this> <urn:p> "a\\" ." .'],
    ['a property that would end early', 'value  urn:p> iri', 'urn:x', undefined],
    ['a language that would end early', 'value  urn:p @en"', 'x', undefined],
    ['a choice that contains a whole line',     'value  urn:p term', '"a" . <urn:x> <urn:y> "b"', undefined],
    ['a blank value',          'value  urn:p iri', ' \r\n', ''],
  ]
  for (const [name, field, sent, line] of rows) {
    await row(`${name}: ${line === undefined ? 'refused at its field' : 'taken'}`, (t) => {
      const { lines, flaws } = typedFields(new URLSearchParams([[field, sent]]), DOCUMENT, ENGLISH_TEXTS)
      t.equal(lines, line ?? '')
      t.equal(flaws.has(field), line === undefined)
    })
  }
})
