// In charge of the pages with forms about a document (`?form=edit` and its like): showing one, and answering one that was sent.
import { entityTagOf, isLarge, isWhole } from '../documents/document.js'
import { isContainer, isRoot, parentOf } from '../documents/hierarchy.js'
import type { Response } from '../http/exchange.js'
import { TURTLE } from '../http/media-type.js'
import { describedIn } from '../pages/described.js'
import { titleOf } from '../pages/document-page.js'
import { deletePage, editPage, newPage, type Refusal } from '../pages/form-page.js'
import { TEXTS } from '../pages/texts.js'
import { isFailure, problem, type Problem } from '../problem.js'
import { nTriplesTerm, text } from '../rdf/graph.js'
import { DCT, DH } from '../rdf/vocabulary.js'
import { lookUpDocument } from '../request/access.js'
import { frameOf, pageAnswer } from '../request/frame.js'
import type { Decided } from '../request/route.js'
import { shownTo } from '../request/shown.js'
import { answerConflict } from './conflict.js'
import { differenceOf, editableTurtle, ownTriples, tooLargeToEdit, typedTriples } from './editable.js'
import {
  carryOut,
  foreignForm,
  seeOther,
  textOf,
  type AskedForm,
  type Done,
  type FormTarget,
  type SentForm,
} from './form-request.js'
import { answerGrant } from './grant-form.js'
import { answerRestore } from './restore-form.js'

type AnswerForm = (asked: AskedForm) => Promise<Response | Problem>

const ANSWERS: Readonly<Record<string, AnswerForm>> = {
  edit: answerEdit,
  add: answerAdd,
  new: answerNew,
  delete: answerDelete,
  grant: answerGrant,
}

export async function answerForm(decided: Decided<FormTarget, SentForm>): Promise<Response | Problem> {
  const { context, target, content } = decided
  if (isFailure(content)) return content
  const isSent = context.request.method === 'POST'
  const foreign = isSent ? foreignForm(context) : undefined
  if (foreign) return foreign
  const { values } = content
  if (target.form === 'restore') return answerRestore(decided, values, isSent)
  const answer = Object.hasOwn(ANSWERS, target.form) ? ANSWERS[target.form] : undefined
  if (!answer) return problem('target.unknown-endpoint', 'There is no such form.')
  const facts = await lookUpDocument(context, target.document)
  if (isFailure(facts)) return facts
  const stored = facts.kind === 'document' ? facts.document : undefined
  if (!stored) return problem('document.absent', 'There is no such document.')
  if (isLarge(stored) || !isWhole(stored)) return tooLargeToEdit
  return answer({ context, document: shownTo(context, stored), values, isSent })
}

const refusalOf = ({ status, detail, report }: Done): Refusal => ({ status, detail, report })

/** RFC 9110 §15.5.13: the state that the person began with has changed. */
const isConflict = ({ status }: Done): boolean => status === 412

async function answerEdit(asked: AskedForm): Promise<Response | Problem> {
  const { context, document, values, isSent } = asked
  const { iri } = document
  const about = { frame: frameOf(context, iri), document: iri, form: 'edit' } as const
  if (!isSent) {
    const text = await editableTurtle(iri, ownTriples(document))
    if (isFailure(text)) return text
    return pageAnswer(200, editPage({ ...about, text, started: text, entityTag: entityTagOf(document, TURTLE) }))
  }
  const typed = textOf(values, 'content')
  const sent = { ...about, text: typed, started: textOf(values, 'started'), entityTag: values.get('if-match') ?? '' }
  if (values.get('do') === 'preview') {
    const mine = await typedTriples(context, iri, typed)
    if (isFailure(mine)) return pageAnswer(400, editPage({ ...sent, refusal: { status: 400, detail: mine.detail } }))
    return pageAnswer(200, editPage({ ...sent, preview: differenceOf(ownTriples(document), mine) }))
  }
  const done = await carryOut(context, {
    ...{ method: 'PUT', url: iri, turtle: typed },
    fields: { 'if-match': sent.entityTag },
  })
  if (done.status < 400) return seeOther(iri)
  if (isConflict(done)) return answerConflict(asked, sent)
  return pageAnswer(done.status, editPage({ ...sent, refusal: refusalOf(done) }))
}

async function answerAdd({ context, document, values, isSent }: AskedForm): Promise<Response | Problem> {
  const { iri } = document
  const text = textOf(values, 'content')
  const view = { frame: frameOf(context, iri), document: iri, form: 'add', text, started: '', entityTag: '' } as const
  if (!isSent) return pageAnswer(200, editPage(view))
  if (values.get('do') === 'preview') {
    const mine = await typedTriples(context, iri, text)
    if (isFailure(mine)) return pageAnswer(400, editPage({ ...view, refusal: { status: 400, detail: mine.detail } }))
    const { added } = differenceOf(document.nTriples, mine)
    return pageAnswer(200, editPage({ ...view, preview: { added, removed: [] } }))
  }
  const done = await carryOut(context, { method: 'POST', url: iri, turtle: text })
  if (done.status < 400) return seeOther(iri)
  return pageAnswer(done.status, editPage({ ...view, refusal: refusalOf(done) }))
}

/** A name as a segment of a path; of the title where there is none. */
function segmentOf(name: string, title: string, uuid: string): string {
  const own = name.trim().split('/').filter(Boolean).join('-')
  const words = title
    .normalize('NFC')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu)
  return encodeURIComponent((own || words?.slice(0, 12).join('-') || uuid).slice(0, 200).toWellFormed())
}

async function answerNew({ context, document, values, isSent }: AskedForm): Promise<Response | Problem> {
  const { iri } = document
  const field = (name: string): string => textOf(values, name)
  const [name, title, typed] = [field('name'), field('title'), field('content')]
  const container = values.get('kind') === 'container'
  const view = { frame: frameOf(context, iri), document: iri, name, title, isContainer: container, text: typed }
  if (!isSent) return pageAnswer(200, newPage(view))
  const url = `${iri}${segmentOf(name, title, context.gateway.uuid())}/`
  const own = [
    ...(container ? [`<${url}> a <${DH('Container')}> .`] : []),
    ...(title.trim() === '' ? [] : [`<${url}> <${DCT('title')}> ${nTriplesTerm(text(title.trim().toWellFormed()))} .`]),
  ]
  // Behind what was typed, so that an error names the line that the person sees.
  const turtle = [typed, ...own].join('\n')
  const done = await carryOut(context, { method: 'PUT', url, turtle, fields: { 'if-none-match': '*' } })
  if (done.status < 400) return seeOther(done.location ?? url)
  const detail = isConflict(done) ? TEXTS.nameTaken : done.detail
  return pageAnswer(done.status, newPage({ ...view, refusal: { ...refusalOf(done), detail } }))
}

async function answerDelete({ context, document, values, isSent }: AskedForm): Promise<Response | Problem> {
  const { iri } = document
  const { base, history } = context.application
  const refuse = (refusal?: Refusal): string =>
    deletePage({
      ...{ frame: frameOf(context, iri), document: iri, refusal },
      title: titleOf(iri, describedIn(iri, document.nTriples, 1).subjects),
      entityTag: entityTagOf(document, TURTLE),
      isContainer: isContainer(document.types),
      isVersioned: history !== undefined,
    })
  if (!isSent) return pageAnswer(200, refuse())
  const fields = { 'if-match': values.get('if-match') ?? '' }
  const done = await carryOut(context, { method: 'DELETE', url: iri, fields })
  if (done.status < 400) return seeOther(isRoot(iri, base) ? iri : parentOf(iri))
  return pageAnswer(done.status, refuse(refusalOf(done)))
}
