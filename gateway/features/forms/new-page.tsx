// The page with the form for a new document: its title and address, its topic, and further data as Turtle.
import { Area, FieldsShown, formShell, type FormAbout } from './form-page.js'
import { Choice, ErrorPlace } from '../../pages/form-parts.js'
import type { FormSection } from './shape-form.js'
import { Plain } from '../../pages/term.js'
import { worded } from '../../pages/texts.js'
import { texts } from './texts.js'

export interface NewView extends FormAbout {
  readonly name: string
  readonly title: string
  readonly titleErrors: readonly string[]
  readonly isContainer: boolean
  readonly text: string
  /** Classes with shapes, and the chosen one. */
  readonly types: readonly { readonly iri: string; readonly label: string }[]
  readonly type: string
  readonly sections: readonly FormSection[]
}

export const newPage = worded((view: NewView): string =>
  formShell(
    view,
    texts().newDocument,
    <>
      {view.types.length > 0 ? <TypeChoice view={view} /> : null}
      <form method="post" action="?form=new">
        <TitleField title={view.title} errors={view.titleErrors} />
        <label for="name">{texts().nameField}</label>
        <p class="hint" id="name-help">
          {texts().nameHelp(view.document)}
        </p>
        <input id="name" name="name" value={view.name} autocomplete="off" aria-describedby="name-help" />
        <fieldset>
          <legend>{texts().kind}</legend>
          <Choice name="kind" value="item" label={texts().itemHelp} isChosen={!view.isContainer} />
          <Choice name="kind" value="container" label={texts().containerHelp} isChosen={view.isContainer} />
        </fieldset>
        {view.type === '' ? null : <input type="hidden" name="type" value={view.type} />}
        <FieldsShown sections={view.sections} />
        <label for="content">{texts().turtleOptional}</label>
        <p class="hint" id="help">
          {texts().newHelp}
        </p>
        <Area name="content" text={view.text} isWrong={view.refusal !== undefined && view.refusal.status !== 422} />
        <ErrorPlace text={view.text} refusal={view.refusal} />
        <div class="actions">
          <button class="main">{texts().create}</button>
          <a class="button" href={view.document}>
            {texts().cancel}
          </a>
        </div>
      </form>
    </>,
  ),
)

/** The fields depend on the type: choosing one requests the page again. */
const TypeChoice = ({ view: { types, type } }: { readonly view: NewView }) => (
  <form method="get" class="box">
    <input type="hidden" name="form" value="new" />
    <label for="type">{texts().typeField}</label>
    <p class="hint" id="type-help">
      {texts().typeHelp}
    </p>
    <select id="type" name="type" aria-describedby="type-help">
      <option value="">{texts().nothingChosen}</option>
      {types.map(({ iri, label }) => (
        <option value={iri} selected={iri === type}>
          <Plain text={label} />
        </option>
      ))}
    </select>{' '}
    <button>{texts().choose}</button>
  </form>
)

const TitleField = ({ title, errors }: { readonly title: string; readonly errors: readonly string[] }) => (
  <>
    <label for="title">{texts().titleField}</label>
    {errors.length > 0 ? (
      <p class="error" id="title-errors">
        <Plain text={errors.join(' ')} />
      </p>
    ) : null}
    <input
      id="title"
      name="title"
      value={title}
      autocomplete="off"
      {...(errors.length > 0 && { 'aria-invalid': 'true', 'aria-describedby': 'title-errors' })}
    />
  </>
)
