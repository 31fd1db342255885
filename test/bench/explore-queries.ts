// The twelve queries of BSBM's "explore" use case (Berlin SPARQL Benchmark 3.1), with example values for their
// parameters. The benchmark measures how long it takes to read and restrict them.
const PREFIXES = `PREFIX v: <http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/vocabulary/>
PREFIX i: <http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/instances/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX dc: <http://purl.org/dc/elements/1.1/>
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX rev: <http://purl.org/stuff/rev#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
`
const PRODUCT = 'i:Producer17-Product812'
const numbers = (product: string): string =>
  `${product} rdfs:label ?label ; rdfs:comment ?comment ; v:producer ?p . ?p rdfs:label ?producer .
  ${product} dc:publisher ?p ; v:productFeature ?f . ?f rdfs:label ?productFeature .
  ${product} v:productPropertyTextual1 ?textual1 ; v:productPropertyTextual2 ?textual2 ; v:productPropertyTextual3 ?textual3 ;
    v:productPropertyNumeric1 ?numeric1 ; v:productPropertyNumeric2 ?numeric2 .
  OPTIONAL { ${product} v:productPropertyTextual4 ?textual4 } OPTIONAL { ${product} v:productPropertyTextual5 ?textual5 }
  OPTIONAL { ${product} v:productPropertyNumeric4 ?numeric4 }`
const OFFER = 'i:Vendor3-Offer4711'

export const EXPLORE_QUERIES: readonly string[] = [
  `SELECT DISTINCT ?product ?label WHERE { ?product rdfs:label ?label ; a i:ProductType21 ; v:productFeature i:ProductFeature7 ,
    i:ProductFeature31 ; v:productPropertyNumeric1 ?value FILTER(?value > 136) } ORDER BY ?label LIMIT 10`,
  `SELECT * WHERE { ${numbers(PRODUCT)} }`,
  `SELECT ?product ?label WHERE { ?product rdfs:label ?label ; a i:ProductType21 ; v:productFeature i:ProductFeature7 ;
    v:productPropertyNumeric1 ?p1 FILTER(?p1 > 136) ?product v:productPropertyNumeric3 ?p3 FILTER(?p3 < 421)
    OPTIONAL { ?product v:productFeature i:ProductFeature31 ; rdfs:label ?other } FILTER(!BOUND(?other)) } ORDER BY ?label LIMIT 10`,
  `SELECT DISTINCT ?product ?label ?text WHERE {
    { ?product rdfs:label ?label ; a i:ProductType21 ; v:productFeature i:ProductFeature7 , i:ProductFeature31 ;
      v:productPropertyTextual1 ?text ; v:productPropertyNumeric1 ?p1 FILTER(?p1 > 136) }
    UNION { ?product rdfs:label ?label ; a i:ProductType21 ; v:productFeature i:ProductFeature7 , i:ProductFeature92 ;
      v:productPropertyTextual1 ?text ; v:productPropertyNumeric2 ?p2 FILTER(?p2 > 512) } } ORDER BY ?label OFFSET 5 LIMIT 10`,
  `SELECT DISTINCT ?product ?label WHERE { ?product rdfs:label ?label FILTER(${PRODUCT} != ?product)
    ${PRODUCT} v:productFeature ?feature . ?product v:productFeature ?feature .
    ${PRODUCT} v:productPropertyNumeric1 ?own1 . ?product v:productPropertyNumeric1 ?its1 FILTER(?its1 < (?own1 + 120) && ?its1 > (?own1 - 120))
    ${PRODUCT} v:productPropertyNumeric2 ?own2 . ?product v:productPropertyNumeric2 ?its2 FILTER(?its2 < (?own2 + 170) && ?its2 > (?own2 - 170))
  } ORDER BY ?label LIMIT 5`,
  `SELECT ?product ?label WHERE { ?product rdfs:label ?label ; a v:Product FILTER regex(?label, "stapler") }`,
  `SELECT * WHERE { ${PRODUCT} rdfs:label ?label .
    OPTIONAL { ?offer v:product ${PRODUCT} ; v:price ?price ; v:vendor ?vendor . ?vendor rdfs:label ?title ; v:country <http://downlode.org/rdf/iso-3166/countries#DE> .
      ?offer dc:publisher ?vendor ; v:validTo ?date FILTER(?date > "2008-06-20T00:00:00"^^xsd:dateTime) }
    OPTIONAL { ?review v:reviewFor ${PRODUCT} ; rev:reviewer ?reviewer . ?reviewer foaf:name ?name . ?review dc:title ?reviewTitle
      OPTIONAL { ?review v:rating1 ?rating1 } OPTIONAL { ?review v:rating2 ?rating2 } } }`,
  `SELECT * WHERE { ?review v:reviewFor ${PRODUCT} ; dc:title ?title ; rev:text ?text FILTER langMatches(lang(?text), "EN")
    ?review v:reviewDate ?date ; rev:reviewer ?reviewer . ?reviewer foaf:name ?name
    OPTIONAL { ?review v:rating1 ?rating1 } OPTIONAL { ?review v:rating2 ?rating2 } OPTIONAL { ?review v:rating3 ?rating3 }
    OPTIONAL { ?review v:rating4 ?rating4 } } ORDER BY DESC(?date) LIMIT 20`,
  `DESCRIBE ?x WHERE { i:RatingSite8-Review812 rev:reviewer ?x }`,
  `SELECT DISTINCT ?offer ?price WHERE { ?offer v:product ${PRODUCT} ; v:vendor ?vendor ; dc:publisher ?vendor .
    ?vendor v:country <http://downlode.org/rdf/iso-3166/countries#US> . ?offer v:deliveryDays ?days FILTER(?days <= 3)
    ?offer v:price ?price ; v:validTo ?date FILTER(?date > "2008-06-20T00:00:00"^^xsd:dateTime) } ORDER BY xsd:double(str(?price)) LIMIT 10`,
  `SELECT ?property ?hasValue ?isValueOf WHERE { { ${OFFER} ?property ?hasValue } UNION { ?isValueOf ?property ${OFFER} } }`,
  `CONSTRUCT { ${OFFER} v:product ?product ; rdfs:label ?label ; v:vendor ?vendor ; foaf:homepage ?home ; v:offerURL ?url ; v:price ?price ;
      v:deliveryDays ?days ; v:validUntil ?date }
    WHERE { ${OFFER} v:product ?product . ?product rdfs:label ?label . ${OFFER} v:vendor ?v . ?v rdfs:label ?vendor ; foaf:homepage ?home .
      ${OFFER} v:offerWebpage ?url ; v:price ?price ; v:deliveryDays ?days ; v:validTo ?date }`,
].map((query) => PREFIXES + query)
