// `?form=new`: a new document in a container, with the fields that the shapes of a chosen type require.
import { FORM_TEXTS } from './texts.js'
import type { Response } from '../../http/exchange.js'
import type { Refusal } from '../../pages/form-parts.js'
import { newPage } from './new-page.js'
import type { FormSection } from './shape-form.js'
import type { ShapeForms } from './shape-fields.js'
import type { Problem } from '../../problem.js'
import { flawOf, iri, nTriplesLine, nTriplesTerm, text, triple } from '../../rdf/graph.js'
import { DCT, DEF, DH, FOAF, RDF } from '../../rdf/vocabulary.js'
import { frameOf, pageAnswer } from '../../request/page-answer.js'
import { rememberPrefixes } from './turtle-editor.js'
import { emptySection, shapeFormsOf } from './form-fields.js'
import { sendForm, isConflict, refusalShown, seeOther, areaText, type AskedForm } from '../../request/page-form.js'
import { flawedIn, messagesIn, sectionsAfter, typedForm } from './submitted-fields.js'

/** The name as a path segment; without a name, the title. */
function segmentOf(name: string, title: string, uuid: string): string {
  const own = name.trim().split('/').filter(Boolean).join('-')
  const words = title
    .normalize('NFC')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu)
  return encodeURIComponent((own || words?.slice(0, 12).join('-') || uuid).slice(0, 200).toWellFormed())
}

/** These types cannot be chosen: the gateway sets them. */
const KINDS = [DH('Item'), DH('Container'), DEF('Root')]

const sectionsOf = (forms: ShapeForms | undefined, type: string): readonly FormSection[] =>
  forms
    ? [
        ...emptySection(forms, '', [DH('Item')], [DCT('title')]),
        ...(type === '' ? [] : emptySection(forms, '#this', [type])),
      ]
    : []

export async function answerNew({ context, document, values, isSent, modes }: AskedForm): Promise<Response | Problem> {
  const container = document.iri
  const frame = frameOf(context, container)
  const language = frame.texts.tag
  const field = (name: string): string => areaText(values, name)
  const [name, title] = [field('name'), field('title')]
  const forms = modes.includes('Write') ? await shapeFormsOf(context) : undefined
  const given = field('type')
  const type = given !== '' && flawOf(triple(container, RDF('type'), iri(given))) === undefined ? given : ''
  const isContainer = values.get('kind') === 'container'
  const url = `${container}${segmentOf(name, title, context.gateway.uuid())}/`
  const { text: typed, whole, flaws } = typedForm(values, url, frame.texts)
  const shown = (refusal?: Refusal) => ({
    ...{
      frame,
      document: container,
      name,
      title,
      isContainer,
      text: typed,
      type,
      refusal,
    },
    types: (forms?.classes ?? []).filter(({ iri: each }) => !KINDS.includes(each)),
    sections: sectionsAfter(values, url, sectionsOf(forms, type), { flaws, report: refusal?.report, language }),
    titleErrors: messagesIn(refusal?.report, url, language)('', DCT('title')),
  })
  if (!isSent) return pageAnswer(200, newPage(shown()))
  if (flaws.size > 0) return pageAnswer(422, newPage(shown(flawedIn(frame.texts))))
  const topic = `${url}#this`
  const own = [
    ...(isContainer ? [`<${url}> a <${DH('Container')}> .`] : []),
    ...(title.trim() === '' ? [] : [`<${url}> <${DCT('title')}> ${nTriplesTerm(text(title.trim().toWellFormed()))} .`]),
    ...(type === '' ? [] : [triple(topic, RDF('type'), iri(type)), triple(url, FOAF('primaryTopic'), iri(topic))]).map(
      nTriplesLine,
    ),
  ]
  // After the person's text, so that an error names the line that the person sees.
  const turtle = [whole, ...own].join('\n')
  const done = await sendForm(context, { method: 'PUT', url, turtle, fields: { 'if-none-match': '*' } })
  if (done.status < 400) {
    rememberPrefixes(context, url, typed)
    return seeOther(done.location ?? url)
  }
  // The heading of a 412 would say that somebody has changed something.
  const refusal = isConflict(done)
    ? { status: 409, detail: frame.texts.with(FORM_TEXTS).nameTaken }
    : refusalShown(done)
  return pageAnswer(done.status, newPage(shown(refusal)), done.fields)
}
