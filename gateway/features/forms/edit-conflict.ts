// A form that met a change by somebody else (412): the three states beside one another, and both changes together.
import { entityTagOf, isLarge, isWhole } from '../../documents/document.js'
import type { Response } from '../../http/exchange.js'
import { TURTLE } from '../../http/media-type.js'
import { conflictPage } from './conflict-page.js'
import { isFailure, type Problem } from '../../problem.js'
import { lookUpDocument } from '../../request/access.js'
import type { Context } from '../../request/context.js'
import { frameOf, pageAnswer } from '../../request/page-answer.js'
import { differenceOf, editableTurtle, merged, ownTriples, tooLargeToEdit, typedTriples } from './turtle-editor.js'

interface Typed {
  readonly text: string
  readonly started: string
}

export async function answerConflict(
  { context, document: { iri } }: { readonly context: Context; readonly document: { readonly iri: string } },
  { text, started }: Typed,
): Promise<Response | Problem> {
  const facts = await lookUpDocument(context, iri, true)
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
