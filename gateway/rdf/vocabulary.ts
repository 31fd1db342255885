// The vocabularies that the gateway reads and writes: their namespaces and prefixes.

const terms =
  (namespace: string) =>
  (name: string): string =>
    namespace + name

export const RDF = terms('http://www.w3.org/1999/02/22-rdf-syntax-ns#')
export const RDFS = terms('http://www.w3.org/2000/01/rdf-schema#')
export const XSD = terms('http://www.w3.org/2001/XMLSchema#')
export const OWL = terms('http://www.w3.org/2002/07/owl#')
export const DCT = terms('http://purl.org/dc/terms/')
export const SIOC = terms('http://rdfs.org/sioc/ns#')
export const FOAF = terms('http://xmlns.com/foaf/0.1/')
export const ACL = terms('http://www.w3.org/ns/auth/acl#')
export const SOLID = terms('http://www.w3.org/ns/solid/terms#')
export const CERT = terms('http://www.w3.org/ns/auth/cert#')
export const PROV = terms('http://www.w3.org/ns/prov#')
/** ChangeSet: the vocabulary of a difference between two versions. */
export const CS = terms('http://purl.org/vocab/changeset/schema#')
export const SH = terms('http://www.w3.org/ns/shacl#')
export const SD = terms('http://www.w3.org/ns/sparql-service-description#')
export const DOAP = terms('http://usefulinc.com/ns/doap#')
/** Document hierarchy (spec 2.1). */
export const DH = terms('https://www.w3.org/ns/ldt/document-hierarchy#')
export const DEF = terms('https://w3id.org/atomgraph/linkeddatahub/default#')
export const LDT = terms('https://www.w3.org/ns/ldt#')
export const LAPP = terms('https://w3id.org/atomgraph/linkeddatahub/apps#')
export const LDS = terms('https://w3id.org/atomgraph/linkeddatahub/dataspaces#')
export const LDH = terms('https://w3id.org/atomgraph/linkeddatahub#')
export const LACL = terms('https://w3id.org/atomgraph/linkeddatahub/admin/acl#')
/** Our own terms: the evidence for a decision on access. */
export const TGA = terms('urn:triplegate:access#')
/** Our own terms: the state of an import. */
export const TGI = terms('urn:triplegate:import#')
export const SPIN = terms('http://spinrdf.org/spin#')
export const SP = terms('http://spinrdf.org/sp#')
export const GITHUB = terms('https://w3id.org/atomgraph/linkeddatahub/services/github#')
/** Core namespace: `a:authToken`, `a:graphStore` … (spec 2.3). */
export const A = terms('https://w3id.org/atomgraph/core#')
/** Client namespace: `ac:stylesheet`. */
export const AC = terms('https://w3id.org/atomgraph/client#')
export const NFO = terms('http://www.semanticdesktop.org/ontologies/2007/03/22/nfo#')
/** Media types as IRIs (LinkedDataHub 1.1). */
export const MEDIA_TYPE = terms('http://www.sparontologies.net/mediatype/')
/** HTTP in RDF (spec 2.2). */
export const HTTP = terms('http://www.w3.org/2011/http#')
export const SC = terms('http://www.w3.org/2011/http-statusCodes#')

/**
 * Widely used vocabularies, named as in the RDFa initial context if they are there. Their prefixes are written only if
 * used. Add new ones at the end, so that the same graph still gives the same bytes.
 */
const WELL_KNOWN: Readonly<Record<string, string>> = {
  skos: 'http://www.w3.org/2004/02/skos/core#',
  skosxl: 'http://www.w3.org/2008/05/skos-xl#',
  dc: 'http://purl.org/dc/elements/1.1/',
  dcmitype: 'http://purl.org/dc/dcmitype/',
  dcat: 'http://www.w3.org/ns/dcat#',
  void: 'http://rdfs.org/ns/void#',
  vann: 'http://purl.org/vocab/vann/',
  schema: 'http://schema.org/',
  sdo: 'https://schema.org/',
  vcard: 'http://www.w3.org/2006/vcard/ns#',
  org: 'http://www.w3.org/ns/org#',
  time: 'http://www.w3.org/2006/time#',
  geo: 'http://www.w3.org/2003/01/geo/wgs84_pos#',
  geosparql: 'http://www.opengis.net/ont/geosparql#',
  qb: 'http://purl.org/linked-data/cube#',
  odrl: 'http://www.w3.org/ns/odrl/2/',
  cc: 'http://creativecommons.org/ns#',
  as: 'https://www.w3.org/ns/activitystreams#',
  ldp: 'http://www.w3.org/ns/ldp#',
  oa: 'http://www.w3.org/ns/oa#',
  sosa: 'http://www.w3.org/ns/sosa/',
  ssn: 'http://www.w3.org/ns/ssn/',
  adms: 'http://www.w3.org/ns/adms#',
  bibo: 'http://purl.org/ontology/bibo/',
  gr: 'http://purl.org/goodrelations/v1#',
  wd: 'http://www.wikidata.org/entity/',
  wdt: 'http://www.wikidata.org/prop/direct/',
  dbo: 'http://dbpedia.org/ontology/',
}

/** The prefixes of documents. */
export const PREFIXES: Readonly<Record<string, string>> = {
  rdf: RDF(''),
  rdfs: RDFS(''),
  xsd: XSD(''),
  owl: OWL(''),
  dct: DCT(''),
  sioc: SIOC(''),
  foaf: FOAF(''),
  acl: ACL(''),
  lacl: LACL(''),
  tga: TGA(''),
  tgi: TGI(''),
  cert: CERT(''),
  prov: PROV(''),
  cs: CS(''),
  sh: SH(''),
  dh: DH(''),
  def: DEF(''),
  ldh: LDH(''),
  lds: LDS(''),
  nfo: NFO(''),
  sd: SD(''),
  http: HTTP(''),
  sc: SC(''),
  ...WELL_KNOWN,
}

/** The prefixes of messages about the configuration. */
export const CONFIGURATION_PREFIXES: Readonly<Record<string, string>> = {
  ...PREFIXES,
  doap: DOAP(''),
  a: A(''),
  ac: AC(''),
  ldt: LDT(''),
  lapp: LAPP(''),
  host: GITHUB(''),
}
