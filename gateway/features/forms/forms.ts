// The pages with forms for a document (`?form=edit` and the like): shows a form, and answers a submitted one.
import { isOfOne } from '../../../policies/authorizations/coverage.js'
import { entityTagOf, isLarge, isWhole } from '../../documents/document.js'
import { isContainer, isRoot, parentOf } from '../../documents/hierarchy.js'
import type { Response } from '../../http/exchange.js'
import { TURTLE } from '../../http/media-type.js'
import { titleOf } from '../../pages/document-page.js'
import type { Refusal } from '../../pages/form-parts.js'
import type { MadePage } from '../../pages/texts.js'
import { describedIn } from '../../pages/triples-by-subject.js'
import { type Problem, isFailure, problem } from '../../problem.js'
import { decideOn } from '../../request/access.js'
import type { Context } from '../../request/context.js'
import { documentToShow } from '../../request/decide-again.js'
import { shownTo } from '../../request/hide-mailboxes.js'
import { frameOf, pageAnswer } from '../../request/page-answer.js'
import {
  type AskedForm,
  type FormTarget,
  type SentForm,
  areaText,
  foreignForm,
  isConflict,
  refusalShown,
  seeOther,
  sendForm,
} from '../../request/page-form.js'
import { refusalOf as accessRefused } from '../../request/refusal.js'
import type { Decided } from '../../request/route.js'
import { conflictPage } from './conflict-page.js'
import { dividedForm } from './form-fields.js'
import { type EditView, type FormAbout, deletePage, editPage } from './form-page.js'
import { answerNew } from './new-form.js'
import { answerRestore } from './restore-form.js'
import { flawedIn, sectionsAfter, typedForm } from './submitted-fields.js'
import { FORM_TEXTS } from './texts.js'
import {
  differenceOf,
  editableTurtle,
  isTooLargeToEdit,
  linesToAdd,
  merged,
  ownTriples,
  prefixesOf,
  rememberPrefixes,
  tooLargeToEdit,
  typedTriples,
} from './turtle-editor.js'

interface Typed {
  readonly text: string
  readonly started: string
}

async function answerConflict(
  { context, document: { iri } }: { readonly context: Context; readonly document: { readonly iri: string } },
  { text, started }: Typed,
): Promise<Response | Problem> {
  const facts = await documentToShow(context, iri, true)
  if (isFailure(facts)) return facts
  const current = facts.kind === 'document' ? facts.document : undefined
  if (current && (isLarge(current) || !isWhole(current))) return tooLargeToEdit
  const now = current ? ownTriples(current) : ''
  const [before, mine] = [await typedTriples(context, iri, started), await typedTriples(context, iri, text)]
  if (isFailure(before)) return before
  if (isFailure(mine)) return mine
  const [there, both] = [
    await editableTurtle(context, iri, now, text),
    await editableTurtle(context, iri, merged(before, mine, now), text),
  ]
  if (isFailure(there)) return there
  if (isFailure(both)) return both
  const page = conflictPage({
    ...{ frame: frameOf(context, iri), document: iri, started, now: there, mine: text, merged: both },
    entityTag: current ? entityTagOf(current, TURTLE) : '*',
    theirs: differenceOf(before, now),
    own: differenceOf(before, mine),
  })
  return pageAnswer(412, page)
}

type AnswerForm = (asked: AskedForm) => Promise<Response | Problem>

const ANSWERS: Readonly<Record<string, AnswerForm>> = {
  edit: answerEdit,
  add: answerAdd,
  new: answerNew,
  delete: answerDelete,
}

export async function answerForm(decided: Decided<FormTarget, SentForm | undefined>): Promise<Response | Problem> {
  const { context, target, content } = decided
  if (isFailure(content)) return content
  const isSent = context.request.method === 'POST'
  const foreign = isSent ? foreignForm(context) : undefined
  if (foreign) return foreign
  // The content is not read if the document is refused or was deleted.
  const { values } = content ?? { values: new URLSearchParams() }
  const reading = decideOn(context, decided.facts, 'Read')
  if (isFailure(reading)) return reading
  if (target.form === 'restore') return answerRestore({ ...decided, reading }, values, isSent)
  // A form reveals the document, in its preview or in a conflict.
  if (!reading.allowed) return accessRefused(reading, context, target.document)
  const answer = Object.hasOwn(ANSWERS, target.form) ? ANSWERS[target.form] : undefined
  if (!answer) return problem('target.unknown-endpoint', 'There is no such form.')
  const facts = await documentToShow(context, target.document)
  if (isFailure(facts)) return facts
  const stored = facts.kind === 'document' ? facts.document : undefined
  if (!stored) return problem('document.absent', 'This document does not exist.')
  if (isLarge(stored) || !isWhole(stored)) return tooLargeToEdit
  const { modes } = decided.decision
  return answer({
    context,
    document: shownTo(context, stored),
    values: isSent ? values : chosen(target),
    isSent,
    modes,
  })
}

/** Only the type is taken from a form's URL: a link on another site must not fill in values. */
const chosen = ({ query }: FormTarget): URLSearchParams => new URLSearchParams({ type: query.get('type') ?? '' })

async function answerEdit(asked: AskedForm): Promise<Response | Problem> {
  const { context, document, values, isSent } = asked
  if (isTooLargeToEdit(document)) return tooLargeToEdit
  const { iri } = document
  const divided = await dividedForm(asked)
  const about = { frame: frameOf(context, iri), document: iri, form: 'edit' } as const
  if (!isSent) {
    const typed = prefixesOf(context, iri)
    const started = await editableTurtle(context, iri, ownTriples(document), typed)
    const text = divided ? await editableTurtle(context, iri, divided.rest, typed) : started
    if (isFailure(text)) return text
    if (isFailure(started)) return started
    const entityTag = entityTagOf(document, TURTLE)
    return pageAnswer(200, editPage({ ...about, text, started, entityTag, sections: divided?.sections }))
  }
  const { text, whole, flaws } = typedForm(values, iri, about.frame.texts)
  const shown = (refusal?: Refusal): Pick<EditView, 'sections'> & FormAbout => ({
    ...about,
    refusal,
    sections: sectionsAfter(values, iri, divided?.sections ?? [], {
      flaws,
      report: refusal?.report,
      language: about.frame.texts.tag,
    }),
  })
  const sent = {
    text,
    started: areaText(values, 'started'),
    entityTag: values.get('if-match') ?? '',
    form: 'edit',
  } as const
  if (flaws.size > 0) return pageAnswer(422, editPage({ ...sent, ...shown(flawedIn(about.frame.texts)) }))
  if (values.get('do') === 'preview') {
    const mine = await typedTriples(context, iri, whole)
    // The text is not shown again: making that page would take as long as comparing the text.
    if (isFailure(mine) && mine.failure === 'content.too-large') return mine
    if (isFailure(mine)) return pageAnswer(400, editPage({ ...sent, ...shown({ status: 400, detail: mine.detail }) }))
    return pageAnswer(200, editPage({ ...sent, ...shown(), preview: differenceOf(ownTriples(document), mine) }))
  }
  const done = await sendForm(context, {
    ...{ method: 'PUT', url: iri, turtle: whole },
    fields: { 'if-match': sent.entityTag },
  })
  if (done.status < 400) {
    rememberPrefixes(context, iri, text)
    return seeOther(iri)
  }
  if (isConflict(done)) return answerConflict(asked, { text: whole, started: sent.started })
  return pageAnswer(done.status, editPage({ ...sent, ...shown(refusalShown(done)) }), done.fields)
}

async function answerAdd({ context, document, values, isSent }: AskedForm): Promise<Response | Problem> {
  const { iri } = document
  const text = areaText(values, 'content')
  const view = { frame: frameOf(context, iri), document: iri, form: 'add', text, started: '', entityTag: '' } as const
  if (!isSent) return pageAnswer(200, editPage(view))
  if (values.get('do') === 'preview') {
    const mine = await typedTriples(context, iri, text)
    // The text is not shown again: making that page would take as long as comparing the text.
    if (isFailure(mine) && mine.failure === 'content.too-large') return mine
    if (isFailure(mine)) return pageAnswer(400, editPage({ ...view, refusal: { status: 400, detail: mine.detail } }))
    return pageAnswer(200, editPage({ ...view, preview: { added: linesToAdd(document, mine), removed: [] } }))
  }
  const done = await sendForm(context, { method: 'POST', url: iri, turtle: text })
  if (done.status < 400) return seeOther(iri)
  return pageAnswer(done.status, editPage({ ...view, refusal: refusalShown(done) }), done.fields)
}

async function answerDelete({ context, document, values, isSent }: AskedForm): Promise<Response | Problem> {
  const { iri } = document
  const { base, history } = context.application
  const rules = context.dataspace.access.current()
  if (isFailure(rules)) return rules
  const coverage = rules.coverage(iri)
  const isWide = !isOfOne(coverage)
  const refuse = (refusal?: Refusal): MadePage =>
    deletePage({
      ...{ frame: frameOf(context, iri), document: iri, refusal },
      title: titleOf(iri, describedIn(iri, document.nTriples, 1).subjects),
      entityTag: entityTagOf(document, TURTLE),
      isContainer: isContainer(document.types),
      isVersioned: history !== undefined,
      coverage: isWide ? coverage : undefined,
    })
  if (!isSent) return pageAnswer(200, refuse())
  // Documents other than the one that the person came from lose the right too.
  if (isWide && values.get('covered') !== 'all') {
    const { deleteRuleUnsure } = frameOf(context, iri).texts.with(FORM_TEXTS)
    return pageAnswer(400, refuse({ status: 400, detail: deleteRuleUnsure }))
  }
  const fields = { 'if-match': values.get('if-match') ?? '' }
  const done = await sendForm(context, { method: 'DELETE', url: iri, fields })
  if (done.status < 400) return seeOther(isRoot(iri, base) ? iri : parentOf(iri))
  return pageAnswer(done.status, refuse(refusalShown(done)), done.fields)
}
