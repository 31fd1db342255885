// The pages about the past of a document: all its versions, and one version.
import type { Child } from 'hono/jsx'
import type { Version } from '../../versioning/change.js'
import { describedIn } from './triples-by-subject.js'
import { Formats, Subjects, titleOf, Types } from './document-page.js'
import { Crumbs, pageOf, type Frame } from './frame.js'
import { TableHead } from './table-head.js'
import { IriShown, Time } from './term.js'
import { texts, worded } from './texts.js'

export interface HistoryAbout {
  readonly frame: Frame
  readonly document: string
  /** True if the agent may restore versions. */
  readonly canWrite: boolean
}

export interface HistoryView extends HistoryAbout {
  /** Latest first. */
  readonly versions: readonly Version[]
  readonly page: number
  readonly pages: number
  readonly all: number
  /** The current version; undefined if the document is deleted. */
  readonly current: string | undefined
}

export const VERSIONS_PER_PAGE = 100

export const timeShown = (time: number): string => new Date(time).toISOString().replace(/\.\d+Z$/, 'Z')
export const at = ({ commit }: Pick<Version, 'commit'>): string => `?version=${commit}`
export const restoreAt = ({ commit }: Pick<Version, 'commit'>): string => `?form=restore&of=${commit}`

export const historyShell = ({ frame, document }: HistoryAbout, title: string, content: Child): string =>
  pageOf(
    frame,
    title,
    <>
      <Crumbs site={frame.site} document={document} />
      <h1>{title}</h1>
      {content}
    </>,
  )

export const historyPage = worded((view: HistoryView): string => {
  const { versions, document, all, page, pages } = view
  return historyShell(
    view,
    texts().history,
    <>
      <p>
        {texts().versionsOf(all)} <a href={document}>{texts().currentVersion}</a>
      </p>
      <form method="get" action={document}>
        <div class="card scroll">
          <table>
            <TableHead
              columns={[texts().from, texts().to, texts().time, texts().agent, texts().method]}
              numbers={[texts().addedCount, texts().removedCount]}
            />
            <tbody>
              {versions.map((version, i) => (
                <Row version={version} place={i} view={view} />
              ))}
            </tbody>
          </table>
        </div>
        <div class="actions">
          <button class="main">{texts().compare}</button>
        </div>
      </form>
      {pages > 1 ? (
        <nav class="pager" aria-label={texts().pages}>
          <span>{texts().pageOf(page, pages)}</span>
          <ul>
            {page > 1 ? <PageLink to={page - 1} label={texts().newer} /> : null}
            {page < pages ? <PageLink to={page + 1} label={texts().older} /> : null}
          </ul>
        </nav>
      ) : null}
    </>,
  )
})

const PageLink = ({ to, label }: { readonly to: number; readonly label: string }) => (
  <li>
    <a href={`?timemap&page=${to}`}>{label}</a>
  </li>
)

function Row({
  version,
  place,
  view,
}: {
  readonly version: Version
  readonly place: number
  readonly view: HistoryView
}) {
  const { commit, blob, time, agent, method, added, removed } = version
  const when = timeShown(time)
  const { base } = view.frame.site
  return (
    <tr>
      <td data-label={texts().from}>
        <input type="radio" name="diff" value={commit} checked={place === 1} aria-label={texts().fromVersion(when)} />
      </td>
      <td data-label={texts().to}>
        <input type="radio" name="version" value={commit} checked={place === 0} aria-label={texts().toVersion(when)} />
      </td>
      <td data-label={texts().time}>
        {blob === undefined ? (
          <>
            <Time value={when} isExact /> <span class="tag">{texts().deleted}</span>
          </>
        ) : (
          <a href={at(version)}>
            <Time value={when} isExact />
          </a>
        )}
      </td>
      <td data-label={texts().agent}>
        {agent === undefined ? <span class="soft">{texts().nobodyKnown}</span> : <IriShown iri={agent} base={base} />}
      </td>
      <td data-label={texts().method}>
        {method ?? ''}
        {version.restores === undefined ? null : <span class="tag">{texts().restored}</span>}
      </td>
      <td class="number" data-label={texts().addedCount}>
        {added === undefined ? '' : `+${added}`}
      </td>
      <td class="number" data-label={texts().removedCount}>
        {removed === undefined ? '' : `−${removed}`}
      </td>
      <td>
        {view.canWrite && blob !== undefined && commit !== view.current ? (
          <a href={restoreAt(version)} aria-label={texts().restoreVersion(when)}>
            {texts().restoreTitle}
          </a>
        ) : null}
      </td>
    </tr>
  )
}

export interface VersionView extends HistoryAbout {
  readonly version: Version
  /** The nearest versions before and after it that have content. */
  readonly previous: Version | undefined
  readonly next: Version | undefined
  /** The latest version with content. */
  readonly latest: Version
  readonly types: readonly string[]
  /** Canonical. */
  readonly nTriples: string
}

export const versionPage = worded((view: VersionView): string => {
  const { frame, document, version, previous, next, nTriples } = view
  const { base } = frame.site
  const described = describedIn(document, nTriples, 1)
  const title = titleOf(document, described.subjects)
  return historyShell(
    view,
    title,
    <>
      <div class="box notice" role="status">
        <p>
          {texts().asItWas} <Time value={timeShown(version.time)} isExact />
          {version.agent === undefined ? null : (
            <>
              {texts().by} <IriShown iri={version.agent} base={base} />
            </>
          )}
          .
        </p>
        <ul class="actions">
          <Go href={document} label={texts().currentVersion} />
          {previous ? <Go href={at(previous)} label={texts().previousVersion} /> : null}
          {next ? <Go href={at(next)} label={texts().nextVersion} /> : null}
          {next ? (
            <Go href={`?version=${view.latest.commit}&diff=${version.commit}`} label={texts().compareCurrent} />
          ) : null}
          {view.canWrite && next ? <Go href={restoreAt(version)} label={texts().restoreTitle} /> : null}
          <Go href="?timemap" label={texts().history} />
        </ul>
      </div>
      <Types types={view.types} />
      <Subjects described={described} document={document} base={base} />
      <p class="aside">
        {texts().formats}: <Formats more={`version=${version.commit}&`} />
      </p>
    </>,
  )
})

export const Go = ({ href, label }: { readonly href: string; readonly label: string }) => (
  <li>
    <a class="button" href={href}>
      {label}
    </a>
  </li>
)
