// The pages with forms for a document: editing and adding as Turtle, a new document, deleting, restoring. After an
// error, the form shows the person's input again.
import type { Child } from 'hono/jsx'
import type { Coverage } from '../../../policies/authorizations/coverage.js'
import { ChangesShown, type Changed } from '../../pages/changes.js'
import { CoverageShown } from '../../pages/covers.js'
import { Violations } from '../../pages/error-page.js'
import { Crumbs, Notice, pageOf, type Frame } from '../../pages/frame.js'
import { FormSections, type FormSection } from './shape-form.js'
import { ErrorPlace, type Refusal } from '../../pages/form-parts.js'
import { Time } from '../../pages/term.js'
import { worded } from '../../pages/texts.js'
import { texts } from './texts.js'

export interface FormAbout {
  readonly frame: Frame
  readonly document: string
  readonly refusal?: Refusal | undefined
}

export interface EditView extends FormAbout {
  readonly form: 'edit' | 'add'
  readonly text: string
  /** The text that the person started from, and the entity-tag of that state. */
  readonly started: string
  readonly entityTag: string
  readonly preview?: Changed | undefined
  /** The fields next to the text. */
  readonly sections?: readonly FormSection[] | undefined
}

export const editPage = worded((view: EditView): string => {
  const { frame, document, form, text, started, entityTag, preview, refusal, sections = [] } = view
  const title = form === 'edit' ? texts().editTitle : texts().addTitle
  return formShell(
    view,
    title,
    <>
      {preview ? (
        <section aria-labelledby="preview">
          <h2 id="preview">{texts().preview}</h2>
          <ChangesShown changed={preview} document={document} base={frame.site.base} />
        </section>
      ) : null}
      <form method="post" action={`?form=${form}`}>
        <input type="hidden" name="if-match" value={entityTag} />
        <input type="hidden" name="started" value={started} />
        <FieldsShown sections={sections} />
        <label for="content">
          {form === 'add' ? title : sections.length > 0 ? texts().turtleRest : texts().turtle}
        </label>
        <p class="hint" id="help">
          {form === 'edit' ? texts().editHelp : texts().addHelp}
        </p>
        <Area name="content" text={text} isWrong={refusal !== undefined} />
        <ErrorPlace text={text} refusal={refusal} />
        <div class="actions">
          <button class="main" name="do" value="save">
            {texts().save}
          </button>
          <button name="do" value="preview">
            {texts().showChanges}
          </button>
          <a class="button" href={document}>
            {texts().cancel}
          </a>
        </div>
      </form>
    </>,
  )
})

/** The hidden field says that the form has these fields, even if they are empty. */
export const FieldsShown = ({ sections }: { readonly sections: readonly FormSection[] }) =>
  sections.length === 0 ? null : (
    <>
      <input type="hidden" name="fields" value="" />
      <FormSections sections={sections} />
    </>
  )

/** With these statuses, the store may have performed the write although it did not answer. */
const MAY_BE_DONE: ReadonlySet<number> = new Set([500, 502, 504])

export function formShell({ frame, document, refusal }: FormAbout, title: string, content: Child): string {
  return pageOf(
    frame,
    title,
    <>
      <Crumbs site={frame.site} document={document} />
      <h1>{title}</h1>
      {refusal ? (
        <Notice refusal={refusal}>
          <p>
            {MAY_BE_DONE.has(refusal.status) ? texts().mayBeSaved : texts().nothingLost}{' '}
            {refusal.status === 503 ? texts().errorAdvice(503) : null}
          </p>
          <Violations report={refusal.report} base={frame.site.base} />
        </Notice>
      ) : null}
      {content}
    </>,
  )
}

export const Area = ({
  name,
  text,
  isWrong,
}: {
  readonly name: string
  readonly text: string
  readonly isWrong: boolean
}) => (
  <textarea
    class="code"
    id={name}
    name={name}
    rows={Math.min(40, Math.max(12, text.split('\n').length + 2))}
    spellcheck={false}
    autocapitalize="off"
    aria-describedby={isWrong ? 'help place' : 'help'}
    {...(isWrong && { 'aria-invalid': 'true' })}
  >
    {`\n${text}`}
  </textarea>
)

export interface DeleteView extends FormAbout {
  readonly title: string
  readonly entityTag: string
  readonly isContainer: boolean
  readonly isVersioned: boolean
  /** For a rule about several documents, or for a group. */
  readonly coverage?: Coverage | undefined
}

export const deletePage = worded((view: DeleteView): string =>
  formShell(
    view,
    texts().deleteTitle,
    <form method="post" action="?form=delete">
      <input type="hidden" name="if-match" value={view.entityTag} />
      <div class="box notice">
        <p>
          {texts().deleteQuestion} <strong>{view.title}</strong> <code>{view.document}</code>
        </p>
        <p>{view.isVersioned ? texts().deleteVersioned : texts().deleteForGood}</p>
        {view.isContainer ? <p>{texts().deleteContainer}</p> : null}
        {view.coverage ? (
          <>
            <p>{view.coverage.members > 0 ? texts().deleteGroup(view.coverage.members) : texts().deleteRule}</p>
            <CoverageShown coverage={view.coverage} base={view.frame.site.base} />
            <p class="choice">
              <input type="checkbox" id="covered" name="covered" value="all" required />{' '}
              <label for="covered">{texts().deleteRuleSure}</label>
            </p>
          </>
        ) : null}
      </div>
      <div class="actions">
        <button class="grave">{texts().deleteNow}</button>
        <a class="button" href={view.document}>
          {texts().cancel}
        </a>
      </div>
    </form>,
  ),
)

export interface RestoreView extends FormAbout {
  readonly version: string
  /** xsd:dateTime. */
  readonly time: string
  readonly entityTag: string | undefined
  readonly changed: Changed
}

export const restorePage = worded((view: RestoreView): string =>
  formShell(
    view,
    texts().restoreTitle,
    <>
      <p>
        {texts().restoreQuestion} <Time value={view.time} />. {texts().restoreHelp}
      </p>
      <ChangesShown changed={view.changed} document={view.document} base={view.frame.site.base} level={2} />
      <form method="post" action={`?form=restore&of=${view.version}`}>
        <input type="hidden" name="if-match" value={view.entityTag ?? ''} />
        <div class="actions">
          <button class="main">{texts().restoreNow}</button>
          <a class="button" href="?timemap">
            {texts().cancel}
          </a>
        </div>
      </form>
    </>,
  ),
)
