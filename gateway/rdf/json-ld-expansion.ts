// Expands JSON-LD (JSON-LD 1.1 API §5.1) with the reference library, and bounds the work of the contexts, which it does
// not. Uses its internals, whose version package.json pins; its index would also load a client for HTTP.
import { createRequire } from 'node:module'
import { setImmediate } from 'node:timers/promises'
import { isTooLong, LONGEST_BASE, resolve } from './bases.js'
import { grown } from '../thread-memory.js'

export type Entries = Readonly<Record<string, unknown>>

/** Term definitions processed over all contexts. Each context processes again those that are in scope. */
const DEFINITIONS_LIMIT = 2_000_000
/** Processing a context, even an empty one, costs as much as this many definitions. */
const CONTEXT_WEIGHT = 20
/** A definition costs as much as copying this many. */
const COPIES_OF_DEFINITION = 8
/** The definitions of processed contexts that are kept, to be used again. */
const KEPT_DEFINITIONS = 200_000
const DEFINITION_BYTES = 256
/** Other work gets its turn after this many values. */
const SLICE = 2000
/** Keywords of RDF 1.2, which JSON-LD 1.1 would leave out without a word. */
const RDF_12 = ['@annotation', '@reifier', '@triple']

interface Mapping extends Entries {
  readonly '@id'?: string | null
  readonly '@container'?: readonly string[]
}

/** The library's processed context. */
interface ActiveContext extends Entries {
  readonly processingMode: string
  readonly mappings: ReadonlyMap<string, Mapping | null>
  readonly protected: Entries
  readonly previousContext?: ActiveContext
  revertToPreviousContext(this: ActiveContext): ActiveContext
  clone(): ActiveContext
}

interface ResolvedContext {
  readonly document: Entries | null
  getProcessed(active: ActiveContext): Processed | undefined
  setProcessed(active: ActiveContext, processed: Partial<Processed> & Entries): void
}

interface Processed {
  readonly context: ActiveContext
  readonly events: readonly unknown[]
}

interface Request {
  readonly activeCtx: ActiveContext
  readonly context: unknown
}

interface Resolver {
  resolve(request: Request): Promise<ResolvedContext[]>
}

interface Event {
  readonly code: string
  readonly details: { readonly property?: string; readonly expandedProperty?: string | null }
}

interface Options {
  readonly base: string
  readonly processingMode: string
  readonly documentLoader: (url: string) => Promise<{ document: object; documentUrl: string }>
  readonly contextResolver: Contexts
  readonly eventHandler: readonly ((event: { readonly event: Event; readonly next: () => void }) => void)[]
}

interface Expansion {
  readonly activeCtx: ActiveContext
  readonly activeProperty?: string | null
  readonly element: unknown
  readonly options: Options
  readonly insideList?: boolean
}

const require = createRequire(import.meta.url)
const part = <Part>(name: string): Part => require(`jsonld/lib/${name}.js`) as Part

const urls = part<{ prependBase(base: unknown, reference: string): string; isAbsolute(iri: string): boolean }>('url')
const { isAbsolute } = urls
// Before the other parts are loaded, which take the function over. The library's own takes quadratic time for many dot
// segments. RFC 3986 §4.2: no reference begins with a colon.
urls.prependBase = (base, reference) => {
  if (reference.startsWith(':')) throw new Error(`the malformed IRI <${reference}>`)
  if (base === null || isAbsolute(reference)) return reference
  // A relative @base is resolved when it is used. For the library, an empty one would be none.
  if (base === undefined) return reference || '#'
  if (typeof base !== 'string') throw new Error('a base that is no text')
  if (isAbsolute(base)) return resolve(reference, base)
  if (reference === '' || reference.startsWith('/')) return reference || base
  const path = base.replace(/[?#][^]*/, '')
  return (/^[?#]/.test(reference) ? path : path.slice(0, path.lastIndexOf('/') + 1)) + reference
}

const LibraryResolver = part<new (options: { sharedCache: Map<unknown, unknown> }) => Resolver>('ContextResolver')
const { getInitialContext } = part<{
  getInitialContext(options: Pick<Options, 'processingMode'>): ActiveContext
}>('context')
/** The library calls its own function by this object too. */
const library = part<{ expand(expansion: Expansion): Promise<unknown> }>('expand')

/** All contexts begin with this one. */
const INITIAL = getInitialContext({ processingMode: 'json-ld-1.1' })
/** The contexts of which others are copies so far. */
const copied = new WeakMap<ActiveContext, ActiveContext>()

// Nothing changes definitions or a context that has been processed, but the library would copy all of them.
INITIAL.clone = function () {
  const copy = { ...this, mappings: new Map(this.mappings), protected: { ...this.protected } }
  copied.set(copy, this)
  return copy
}
INITIAL.revertToPreviousContext = function () {
  return this.previousContext ?? this
}

const expandOwn = library.expand

library.expand = async (expansion) => {
  const { activeCtx, activeProperty, element, insideList, options } = expansion
  if (options.contextResolver.isLong()) await setImmediate()
  const container = activeCtx.mappings.get(activeProperty ?? '')?.['@container']
  if (!insideList || !Array.isArray(element) || container?.includes('@list')) return expandOwn(expansion)
  // §5.1.2, step 5.2: arrays within a list belong to it, unless the container of the term is @list. The library would
  // always make lists of them.
  const members: unknown[] = []
  const flat: unknown[] = element.flat(Infinity)
  for (const member of flat) {
    const expanded = await library.expand({ ...expansion, element: member, insideList: false })
    if (Array.isArray(expanded)) for (const each of expanded) members.push(each)
    else if (expanded !== null) members.push(expanded)
  }
  return members
}

/** A context parsed from the text at a URL; throws if it is not available. */
export type Loader = (url: string) => Promise<object>

/** The contexts of one document. */
export class Contexts extends LibraryResolver {
  /** The first reason why a context was refused: the library replaces it by its own. */
  failure: string | undefined
  private definitions = 0
  private kept = 0
  private steps = 0
  private readonly resolved = new WeakMap<object, ResolvedContext[]>()
  private readonly bounded = new WeakSet<ResolvedContext>()

  constructor(private readonly loader: Loader) {
    super({ sharedCache: new Map() })
  }

  async load(url: string): Promise<{ document: object; documentUrl: string }> {
    try {
      return { document: await this.loader(url), documentUrl: url }
    } catch (error) {
      return this.refuse(`${url}: ${error instanceof Error ? error.message : ''}`)
    }
  }

  isLong(): boolean {
    return ++this.steps % SLICE === 0
  }

  override async resolve(request: Request): Promise<ResolvedContext[]> {
    const { activeCtx, context } = request
    const known = isEntries(context) ? this.resolved.get(context) : undefined
    this.work(activeCtx.mappings.size / COPIES_OF_DEFINITION + (known ? 1 : CONTEXT_WEIGHT + this.weightOf(context)))
    if (known) return known
    const resolved = await super.resolve(request)
    for (const each of resolved) this.bound(each)
    if (isEntries(context)) this.resolved.set(context, resolved)
    return resolved
  }

  private bound(resolved: ResolvedContext): void {
    const { document } = resolved
    if (document === null || this.bounded.has(resolved)) return
    this.bounded.add(resolved)
    const weight = CONTEXT_WEIGHT + this.weightOfTerms(document)
    this.work(weight)
    // The library processes the contexts of types in a copy of the context before, so it would not find them again.
    const ofTypes = new WeakMap<ActiveContext, Processed>()
    const beforeType = (active: ActiveContext): ActiveContext | undefined => {
      const before = copied.get(active)
      return before === active.previousContext ? before : undefined
    }
    const [get, set] = [resolved.getProcessed.bind(resolved), resolved.setProcessed.bind(resolved)]
    resolved.getProcessed = (active) => {
      const before = beforeType(active)
      return before ? ofTypes.get(before) : get(active)
    }
    resolved.setProcessed = (active, processed) => {
      const { context, events } = processed
      // The library also keeps an import, merged with the first context that imports it, and would use it for others.
      if (!(context?.mappings instanceof Map) || !Array.isArray(events))
        return this.work(CONTEXT_WEIGHT + this.weightOfTerms(processed))
      const { size } = context.mappings
      copied.delete(context)
      this.work(weight + size / COPIES_OF_DEFINITION)
      this.checkLengths(document, context)
      if ((this.kept += size) > KEPT_DEFINITIONS) return
      const before = beforeType(active)
      if (before) ofTypes.set(before, { context, events })
      else set(active, { context, events })
    }
  }

  /** The number of values. Fails on long texts. */
  private weightOf(context: unknown): number {
    if (typeof context === 'string' && isTooLong(context))
      this.refuse(`a context has a text of more than ${LONGEST_BASE} characters`)
    if (typeof context !== 'object' || context === null) return 1
    return Object.entries(context).reduce((sum, [key, value]) => sum + this.weightOf(key) + this.weightOf(value), 1)
  }

  /** The work of defining the terms. Fails if prefixes that use each other make long IRIs. */
  private weightOfTerms(context: Entries): number {
    const terms = Object.keys(context)
    let compared = 0
    for (const term of terms) {
      const definition = context[term]
      // JSON-LD 1.1 API §5.1.2, step 13.6: a JSON literal, whatever the container; the library would read it as a map.
      if (
        isEntries(definition) &&
        definition['@type'] === '@json' &&
        MAPS.test(JSON.stringify(definition['@container']))
      )
        this.refuse(`the term ${term} is a map of JSON literals`)
      if (/:[^:]|\//.test(term) && iriOf(context, term) !== term) compared++
      let length = 0
      for (let at: string | undefined = term; at !== undefined; at = usedBy(context, at)) {
        this.work(1)
        if ((length += iriOf(context, at).length) > LONGEST_IRI) this.refuse('the IRIs of its terms do not end')
      }
    }
    // The library copies a list of all terms to compare the IRI of a term that has the form of one.
    return terms.length + (compared * terms.length) / COPIES_OF_DEFINITION
  }

  /** A context can also grow by those before it. */
  private checkLengths(document: object, context: ActiveContext): void {
    const iris = [context['@vocab'], ...Object.keys(document).map((term) => context.mappings.get(term)?.['@id'])]
    if (iris.some((iri) => typeof iri === 'string' && iri.length > LONGEST_IRI))
      this.refuse('the IRIs of its terms do not end')
    const base = context['@base']
    if (typeof base === 'string' && isTooLong(base)) this.refuse('its base is too long')
  }

  private work(definitions: number): void {
    grown(DEFINITION_BYTES * definitions)
    if ((this.definitions += definitions) > DEFINITIONS_LIMIT) this.refuse('its contexts are too complex')
  }

  private refuse(reason: string): never {
    this.failure ??= reason
    throw new Error(reason)
  }
}

const LONGEST_IRI = 2 * LONGEST_BASE
const MAPS = /@(?:graph|id|index|language|type)/

const isEntries = (value: unknown): value is Entries => typeof value === 'object' && value !== null

/** The text from which a context makes the IRI of a term. */
function iriOf(context: Entries, term: string): string {
  const value = context[term]
  const iri = isEntries(value) ? (value['@id'] ?? value['@reverse']) : value
  return typeof iri === 'string' ? iri : term
}

/** The other term of the context that the IRI of a term uses. */
function usedBy(context: Entries, term: string): string | undefined {
  const iri = iriOf(context, term)
  const used = Object.hasOwn(context, iri) && iri !== term ? iri : iri.slice(0, Math.max(0, iri.indexOf(':')))
  return used !== '' && used !== term && Object.hasOwn(context, used) ? used : undefined
}

/**
 * The expanded form of a document. Throws if it violates JSON-LD.
 * @param drop receives keys that are neither terms nor IRIs, and are ignored
 */
export async function expand(
  element: unknown,
  base: string,
  contexts: Contexts,
  drop: (key: string) => void,
): Promise<unknown> {
  const options: Options = {
    base,
    processingMode: INITIAL.processingMode,
    documentLoader: (url) => contexts.load(url),
    contextResolver: contexts,
    eventHandler: [
      ({ event }) => {
        if (event.code !== 'invalid property') return
        const { property = '', expandedProperty } = event.details
        if (RDF_12.includes(property)) throw new Error(`${property} is not in JSON-LD 1.1`)
        // The library takes an IRI with white space for none.
        if (expandedProperty?.includes(':')) throw new Error(`the malformed IRI <${expandedProperty}>`)
        drop(property)
      },
    ],
  }
  try {
    const expanded = await library.expand({ activeCtx: INITIAL, element, options })
    // §5.1.1, step 8.6: a map of nothing else is the default graph.
    const isGraph = isEntries(expanded) && '@graph' in expanded && Object.keys(expanded).length === 1
    return isGraph ? expanded['@graph'] : expanded
  } catch (error) {
    throw contexts.failure === undefined ? worded(error as LibraryError) : new Error(contexts.failure)
  }
}

interface LibraryError extends Error {
  readonly details?: { readonly code?: string; readonly element?: object }
}

function worded(error: LibraryError): Error {
  const { code, element } = error.details ?? {}
  if (code === 'invalid @id value') return new Error('the value of @id is not a string')
  if (code === 'context overflow') return new Error('cyclic contexts')
  const other = code === 'invalid value object' && Object.keys(element ?? {}).find((key) => !key.startsWith('@'))
  if (other) return new Error(`invalid value object: ${other} beside @value`)
  return code === undefined ? error : new Error(error.message.replace(/^Invalid JSON-LD syntax; /, ''))
}
