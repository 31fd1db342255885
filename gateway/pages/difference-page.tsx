// The page of the difference between two versions: the changes and, folded, the rest (spec 9.6).
import type { Version } from '../../versioning/change.js'
import { ChangesShown, type Changed } from './changes.js'
import { describedIn } from './triples-by-subject.js'
import { Subjects } from './document-page.js'
import { at, Go, restoreAt, historyShell, timeShown, type HistoryAbout } from './history-page.js'
import { Time } from './term.js'
import { texts, worded } from './texts.js'

export interface DifferenceView extends HistoryAbout {
  readonly from: Version
  readonly to: Version
  readonly changed: Changed
  /** The canonical N-Triples that both have. */
  readonly same: string
}

export const differencePage = worded((view: DifferenceView): string => {
  const { frame, document, from, to, changed, same } = view
  const { base } = frame.site
  return historyShell(
    view,
    texts().difference,
    <>
      <dl class="about">
        <dt>{texts().from}</dt>
        <dd>
          <VersionLink version={from} />
        </dd>
        <dt>{texts().to}</dt>
        <dd>
          <VersionLink version={to} />
        </dd>
      </dl>
      <ul class="actions">
        <Go href={`?version=${from.commit}&diff=${to.commit}`} label={texts().swap} />
        {view.canWrite && from.blob !== undefined ? <Go href={restoreAt(from)} label={texts().restoreFrom} /> : null}
        {view.canWrite && to.blob !== undefined ? <Go href={restoreAt(to)} label={texts().restoreTo} /> : null}
        <Go href="?timemap" label={texts().history} />
      </ul>
      <ChangesShown changed={changed} document={document} base={base} level={2} />
      {same === '' ? null : (
        <details>
          <summary>{texts().unchanged(same.split('\n').length - 1)}</summary>
          <Subjects described={describedIn(document, same, 1)} document={document} base={base} />
        </details>
      )}
    </>,
  )
})

const VersionLink = ({ version }: { readonly version: Version }) =>
  version.blob === undefined ? (
    <>
      <Time value={timeShown(version.time)} isExact /> <span class="tag">{texts().deleted}</span>
    </>
  ) : (
    <a href={at(version)}>
      <Time value={timeShown(version.time)} isExact />
    </a>
  )
