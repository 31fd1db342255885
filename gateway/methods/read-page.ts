// The HTML representation of a document (design 8): made once for each state, set of modes and look, and cached. For a
// container it includes the list of the children that the agent may read.
import type { Mode } from '../../policies/authorizations/authorization.js'
import type { Page } from '../caches.js'
import type { Representation } from '../documents/document.js'
import { isContainer } from '../documents/hierarchy.js'
import { representationOfBytes } from '../documents/representation.js'
import { codedOnce } from '../http/content-coding.js'
import type { Response } from '../http/exchange.js'
import { HTML } from '../http/media-type.js'
import type { Shown } from '../http/target.js'
import type { Children } from '../pages/children-list.js'
import { describedIn } from '../pages/triples-by-subject.js'
import { documentPage } from '../pages/document-page.js'
import { isFailure, type Problem } from '../problem.js'
import { frameOf, textsOf } from '../request/page-answer.js'
import { wait, type Steps } from '../maybe-async.js'
import { answerWhole, type Asked } from './answer-whole.js'
import { childrenShown } from './children-shown.js'

const FIRST: Shown = { page: 1, order: 'name', part: 1 }

const BITS: Readonly<Record<Mode, number>> = { Read: 1, Write: 2, Append: 4, Control: 8 }

/** The actions that the document allows: the documents of owner and secretary are never changed (spec 4.1). */
const usableModes = ({ context: { dataspace }, decision: { modes }, document }: Asked): readonly Mode[] =>
  dataspace.protectedDocuments.has(document.iri) ? modes.filter((mode) => mode === 'Read' || mode === 'Control') : modes

/** Synchronous if the page is cached and lists no children. */
export function* readPage(asked: Asked, shown: Shown = FIRST): Steps<Response | Problem> {
  const { context, document } = asked
  const children = isContainer(document.types) ? yield* wait(childrenShown(context, document.iri, shown)) : undefined
  if (isFailure(children)) return children
  const { gateway, application, agent } = context
  const modes = usableModes(asked)
  const rights = modes.reduce((sum, mode) => sum + BITS[mode], 0)
  const bits = rights + (agent.webId === undefined ? 0 : 16) + (application.history ? 32 : 0)
  const part = shown.part === 1 ? '' : `p${shown.part}`
  const list = children ? `c${children.digest}` : ''
  const language = textsOf(context.request, gateway).tag
  const name = `html${bits.toString(36)}${gateway.look.id}${language}${part}${list}`
  const key = `${document.iri} ${document.digest} ${name}`
  const { pages } = gateway.caches
  let page = pages.get(key)
  if (!page) {
    page = made(asked, shown, modes, children)
    pages.set(key, page)
  }
  const { plain, coded } = page
  return yield* answerWhole(asked, HTML, plain, { name, language }, (codedName, coding) =>
    codedOnce<Representation>(coded, codedName, {
      bytes: plain.bytes,
      coding,
      isKept: () => pages.get(key) === page,
      keep: representationOfBytes,
    }),
  )
}

function made(asked: Asked, { part }: Shown, modes: readonly Mode[], children: Children | undefined): Page {
  const { context, document } = asked
  const page = documentPage({
    frame: frameOf(context, document.iri),
    document: document.iri,
    types: document.types,
    modes,
    isVersioned: context.application.history !== undefined,
    described: describedIn(document.iri, document.nTriples, part),
    children,
  })
  return { plain: representationOfBytes(Buffer.from(page.html)), coded: new Map() }
}
