// The page shown when somebody else has changed the document meanwhile: the starting point, the current document, and
// the person's text. Nothing typed is lost, and the person decides.
import { ChangesShown, type Changed } from '../../pages/changes.js'
import { Area, formShell, type FormAbout } from './form-page.js'
import { Plain } from '../../pages/term.js'
import { worded } from '../../pages/texts.js'
import { texts } from './texts.js'

export interface ConflictView extends FormAbout {
  readonly started: string
  readonly now: string
  readonly mine: string
  /** The entity-tag of the current document. */
  readonly entityTag: string
  readonly merged: string
  readonly theirs: Changed
  readonly own: Changed
}

export const conflictPage = worded((view: ConflictView): string =>
  formShell(
    { ...view, refusal: undefined },
    texts().errorTitle(412),
    <>
      <div class="box notice" role="alert">
        <p>{texts().conflict}</p>
      </div>
      <div class="columns">
        <Column title={texts().started} text={view.started} />
        <Column title={texts().thereNow} text={view.now} />
        <Column title={texts().yours} text={view.mine} />
      </div>
      <h2>{texts().theirChanges}</h2>
      <ChangesShown changed={view.theirs} document={view.document} base={view.frame.site.base} />
      <h2>{texts().yourChanges}</h2>
      <ChangesShown changed={view.own} document={view.document} base={view.frame.site.base} />
      <h2>{texts().mergeTitle}</h2>
      <form method="post" action="?form=edit">
        <input type="hidden" name="if-match" value={view.entityTag} />
        <input type="hidden" name="started" value={view.now} />
        <label for="content">{texts().merged}</label>
        <p class="hint" id="help">
          {texts().mergeHelp}
        </p>
        <Area name="content" text={view.merged} isWrong={false} />
        <div class="actions">
          <button class="main" name="do" value="save">
            {texts().saveMerged}
          </button>
          <button name="do" value="preview">
            {texts().showChanges}
          </button>
        </div>
      </form>
      <form method="post" action="?form=edit">
        <input type="hidden" name="if-match" value={view.entityTag} />
        <input type="hidden" name="started" value={view.now} />
        <input type="hidden" name="content" value={view.mine} />
        <div class="actions">
          <button class="grave" name="do" value="save">
            {texts().takeMine}
          </button>
          <a class="button" href={view.document}>
            {texts().takeTheirs}
          </a>
        </div>
      </form>
    </>,
  ),
)

const Column = ({ title, text }: { readonly title: string; readonly text: string }) => (
  <section>
    <h2>{title}</h2>
    <pre tabindex={0}>
      <Plain text={text} most={Infinity} />
    </pre>
  </section>
)
