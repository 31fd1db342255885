// The endpoints `packages/install` and `packages/uninstall` (spec 4.3, LinkedDataHub 2.6): store the ontology of a
// package as an ontology document, and import it into the namespace. Either everything is done, or nothing.
import { ACCESS_PREDICATES, SUB_CLASS_OF } from '../../../policies/vocabulary.js'
import { parseHttpUrl } from '../../../policies/fetch/destination.js'
import { about } from '../../agents/agent-documents.js'
import { isLarge, readDocumentNow } from '../../documents/document.js'
import { underLocks } from '../../documents/locks.js'
import type { Response } from '../../http/exchange.js'
import { putDocument, writeRefused } from '../../methods/put-document.js'
import { writingOf } from '../../methods/write.js'
import { ontologyKey, packageName } from '../../ontologies/closure.js'
import { isFailure, problem, type Problem } from '../../problem.js'
import { iri, irisOf, triple, type Quad } from '../../rdf/graph.js'
import { readableContent } from '../../rdf/foreign-content.js'
import { READABLE_ACCEPT } from '../../rdf/read.js'
import { AC, ACL, CERT, LACL, LDS, LDT, OWL, RDF } from '../../rdf/vocabulary.js'
import { askerOf, type Context } from '../../request/context.js'
import type { Decided, EndpointTarget } from '../../request/route.js'
import { select } from '../../stores/select.js'
import { done, readOntologyForm } from './clear.js'

export const install = (asked: Decided<EndpointTarget>): Promise<Response | Problem> => change(asked, installed)
export const uninstall = (asked: Decided<EndpointTarget>): Promise<Response | Problem> => change(asked, uninstalled)

async function change(
  { context }: Decided<EndpointTarget>,
  act: (context: Context, uri: string) => Promise<undefined | Problem>,
): Promise<Response | Problem> {
  const form = await readOntologyForm(context)
  if (isFailure(form)) return form
  const uri = form.get('package-uri') ?? ''
  if (isFailure(parseHttpUrl(uri)))
    return problem('request.malformed', 'Name the package, as package-uri=URL in a form.')
  const { admin, endUser } = context.dataspace
  // One at a time: two packages may have the same ontology, and both change the namespace.
  const lock = [`packages ${admin.base}`, 'exclusive'] as const
  const failed = await underLocks(context.gateway, [lock], () => act(context, uri))
  context.trace.continues()
  return failed ?? done(context, endUser.base)
}

interface Package {
  readonly uri: string
  readonly ontology: string | undefined
  /** Only recorded: stylesheets of packages are XSLT. */
  readonly stylesheet: string | undefined
}

const documentOf = ({ dataspace: { admin } }: Context, uri: string): string =>
  `${admin.base}packages/${packageName(uri)}/`
const ontologyDocumentOf = ({ dataspace: { admin } }: Context, ontology: string): string =>
  `${admin.base}ontologies/${packageName(ontology)}/`

async function installed(context: Context, uri: string): Promise<undefined | Problem> {
  const before = await packageIn(context, uri)
  // Installing twice changes nothing.
  if (before) return isFailure(before) ? before : undefined
  const described = await fetched(context, uri)
  if (isFailure(described)) return described
  const found = packageOf(uri, described)
  const { ontology, stylesheet } = found
  if (ontology === undefined && stylesheet === undefined)
    return unusable(`<${uri}> names neither an ontology nor a stylesheet`)
  const content = ontology === undefined ? [] : await fetched(context, ontology)
  if (isFailure(content)) return content
  const rule = ruleIn(content, context)
  if (rule) return unusable(`its ontology contains an access rule (<${rule.subject.value}> <${rule.predicate.value}>)`)
  const own = ownImportIn(content, context)
  if (own) return unusable(`its ontology imports <${own.object.value}>, of this dataspace`)
  const failed =
    (ontology === undefined ? undefined : await addOntology(context, ontology, content)) ??
    (await put(context, documentOf(context, uri), 'PUT', () => aboutPackage(context, found)))
  if (!failed) return undefined
  const left = await removeOntology(context, found)
  if (left) context.gateway.log.warn({ id: context.request.id, package: uri, problem: left.detail }, 'a package could not be installed, but has left documents: uninstall it') // prettier-ignore
  return failed
}

async function addOntology(context: Context, ontology: string, content: readonly Quad[]): Promise<undefined | Problem> {
  const { ontologies } = context.dataspace
  const document = ontologyDocumentOf(context, ontology)
  const known = await ontologies.namespace(ontology)
  if (isFailure(known)) return known
  if (known.document !== undefined && known.document !== document) {
    return unusable(`<${known.document}> already describes the ontology <${ontology}>`)
  }
  const typing = triple(ontology, RDF('type'), iri(OWL('Ontology')))
  const described = about(document, `Ontology ${ontology}`, ontology, [typing, ...content])[1]
  const failed =
    (known.document === undefined ? await put(context, document, 'PUT', () => described) : undefined) ??
    (await putImport(context, ontology, 'add'))
  if (failed) return failed
  const closure = await ontologies.namespace(ontology)
  if (isFailure(closure)) return closure
  const [missing] = closure.failures.values()
  return missing && unusable(missing.detail)
}

/**
 * The admin dataset has the rules, and nothing in a package may become one. Superclasses in its ontology do not matter
 * for this (design 4).
 */
function ruleIn(content: readonly Quad[], { dataspace: { admin } }: Context): Quad | undefined {
  const isRule = (term: string): boolean => RULES.some((namespace) => term.startsWith(namespace))
  return content.find(
    ({ subject, predicate, object }) =>
      subject.value.startsWith(admin.base) ||
      isRule(predicate.value) ||
      (ACCESS_PREDICATES.includes(predicate.value) && predicate.value !== SUB_CLASS_OF) ||
      (predicate.value === RDF('type') && isRule(object.value)),
  )
}
const RULES = [ACL(''), LACL(''), CERT('')]

/** An ontology document may import any document here, but the author of the package has no right to read them. */
const ownImportIn = (content: readonly Quad[], { dataspace: { admin, endUser } }: Context): Quad | undefined =>
  content.find(
    ({ predicate, object }) =>
      predicate.value === OWL('imports') && [admin, endUser].some(({ base }) => object.value.startsWith(base)),
  )

async function uninstalled(context: Context, uri: string): Promise<undefined | Problem> {
  const found = await packageIn(context, uri)
  if (isFailure(found)) return found
  if (!found) return unusable(`<${uri}> is not installed`)
  return (await removeOntology(context, found)) ?? put(context, documentOf(context, uri), 'DELETE', () => undefined)
}

/** Keeps the ontology if another package uses it. */
async function removeOntology(context: Context, { uri, ontology }: Package): Promise<undefined | Problem> {
  if (ontology === undefined) return undefined
  const { admin } = context.dataspace
  const others = `SELECT ?g WHERE { GRAPH ?g { ?p <${LDT('ontology')}> <${ontology}> }
    FILTER(STRSTARTS(STR(?g), ${JSON.stringify(`${admin.base}packages/`)}) && STR(?g) != ${JSON.stringify(documentOf(context, uri))}) } LIMIT 1`
  const rows = await select(admin.store, others, ['g'], {})
  if (isFailure(rows)) return rows
  if (rows.length > 0) return undefined
  return (
    (await putImport(context, ontology, 'remove')) ??
    put(context, ontologyDocumentOf(context, ontology), 'DELETE', () => undefined)
  )
}

async function putImport(context: Context, ontology: string, how: 'add' | 'remove'): Promise<undefined | Problem> {
  const { endUser, admin, ontologies } = context.dataspace
  const root = endUser.ontology ?? `${endUser.base}ns#`
  const namespace = await ontologies.namespace(root)
  if (isFailure(namespace)) return namespace
  const document = namespace.document ?? `${admin.base}ontologies/namespace/`
  return put(context, document, 'PATCH', (current) => {
    const isImport = ({ predicate, object }: Quad): boolean =>
      predicate.value === OWL('imports') && ontologyKey(object.value) === ontologyKey(ontology)
    if (current.some(isImport) === (how === 'add')) return 'unchanged'
    if (how === 'remove') return current.filter((one) => !isImport(one))
    return [...current, triple(root, RDF('type'), iri(OWL('Ontology'))), triple(root, OWL('imports'), iri(ontology))]
  })
}

/** Writes through the normal write path, if the agent may write. */
async function put(
  context: Context,
  document: string,
  method: 'PUT' | 'PATCH' | 'DELETE',
  next: (current: readonly Quad[]) => readonly Quad[] | undefined | 'unchanged',
): Promise<undefined | Problem> {
  const refused = await writeRefused(context, document)
  if (refused) return refused
  const writing = writingOf(context, { application: context.dataspace.admin, method })
  const written = await putDocument(writing, document, (current) => next(current?.graph().triples ?? []))
  return isFailure(written) ? written : undefined
}

const aboutPackage = (context: Context, { uri, ontology, stylesheet }: Package): readonly Quad[] =>
  about(documentOf(context, uri), `Package ${uri}`, uri, [
    ...(ontology === undefined ? [] : [triple(uri, LDT('ontology'), iri(ontology))]),
    ...(stylesheet === undefined ? [] : [triple(uri, AC('stylesheet'), iri(stylesheet))]),
  ])[1]

async function packageIn(context: Context, uri: string): Promise<Package | undefined | Problem> {
  const found = await readDocumentNow(context.dataspace.admin, documentOf(context, uri), context.trace)
  if (isFailure(found)) return found
  const { value } = found
  return value && !isLarge(value) ? packageOf(uri, value.graph().triples) : undefined
}

function packageOf(uri: string, triples: readonly Quad[]): Package {
  const one = (...properties: readonly string[]): string | undefined =>
    properties
      .flatMap((property) => irisOf({ triples }, uri, property))
      .find((value) => !isFailure(parseHttpUrl(value)))
  return { uri, ontology: one(LDT('ontology'), LDS('ontology')), stylesheet: one(AC('stylesheet')) }
}

async function fetched(context: Context, iri: string): Promise<readonly Quad[] | Problem> {
  const { gateway, request } = context
  const answer = await gateway.fetcher.fetch(iri, { accept: READABLE_ACCEPT, signal: request.signal() })
  context.trace.continues()
  if (isFailure(answer)) {
    const isRefused = answer.failure.startsWith('refused-') || answer.failure === 'malformed'
    return isRefused
      ? problem('request.malformed', `<${iri}>: ${answer.detail}`)
      : unusable(`<${iri}>: ${answer.detail}`)
  }
  if (answer.status !== 200) return unusable(`the server answered <${iri}> with status ${answer.status}`)
  const content = await readableContent(answer, gateway.settings.maxBody)
  if (isFailure(content)) return unusable(`<${iri}>: ${content.detail}`)
  const based = { ...content, base: iri.split('#', 1)[0]! }
  const triples = await gateway.reading.readRdf(askerOf(context), based, gateway.loadContext)
  if (isFailure(triples)) return unusable(`<${iri}>: ${triples.detail}`)
  return triples.length > 0 ? triples : unusable(`<${iri}> has no triples`)
}

const unusable = (detail: string): Problem =>
  problem('package.unusable', `The package cannot be used: ${detail.replace(/\.$/, '')}.`)
