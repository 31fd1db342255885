// In charge of the pages about the past of a document: all its versions, and one version.
import type { Child } from 'hono/jsx'
import type { Version } from '../../versioning/change.js'
import { describedIn } from './described.js'
import { Formats, Subjects, titleOf, Types } from './document-page.js'
import { Crumbs, pageOf, type Frame } from './frame.js'
import { TableHead } from './table-head.js'
import { Iri, Time } from './term.js'
import { TEXTS, worded } from './texts.js'

export interface About {
  readonly frame: Frame
  readonly document: string
  /** True where the agent may restore. */
  readonly canWrite: boolean
}

export interface HistoryView extends About {
  /** The latest first. */
  readonly versions: readonly Version[]
  readonly page: number
  readonly pages: number
  readonly all: number
  /** The version that is there now; undefined where the document is deleted. */
  readonly current: string | undefined
}

export const VERSIONS_PER_PAGE = 100

export const timeOf = (time: number): string => new Date(time).toISOString().replace(/\.\d+Z$/, 'Z')
export const at = ({ commit }: Pick<Version, 'commit'>): string => `?version=${commit}`
export const restoreAt = ({ commit }: Pick<Version, 'commit'>): string => `?form=restore&of=${commit}`

export const shell = ({ frame, document }: About, title: string, content: Child): string =>
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
  return shell(
    view,
    TEXTS.history,
    <>
      <p>
        {TEXTS.versionsOf(all)} <a href={document}>{TEXTS.currentVersion}</a>
      </p>
      <form method="get" action={document}>
        <div class="card scroll">
          <table>
            <TableHead
              columns={[TEXTS.from, TEXTS.to, TEXTS.time, TEXTS.agent, TEXTS.method]}
              numbers={[TEXTS.addedCount, TEXTS.removedCount]}
            />
            <tbody>
              {versions.map((version, i) => (
                <Row version={version} place={i} view={view} />
              ))}
            </tbody>
          </table>
        </div>
        <div class="actions">
          <button class="main">{TEXTS.compare}</button>
        </div>
      </form>
      {pages > 1 ? (
        <nav class="pager" aria-label={TEXTS.pages}>
          <span>{TEXTS.pageOf(page, pages)}</span>
          <ul>
            {page > 1 ? <PageLink to={page - 1} label={TEXTS.newer} /> : null}
            {page < pages ? <PageLink to={page + 1} label={TEXTS.older} /> : null}
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
  const when = timeOf(time)
  const { base } = view.frame.site
  return (
    <tr>
      <td data-label={TEXTS.from}>
        <input type="radio" name="diff" value={commit} checked={place === 1} aria-label={TEXTS.fromVersion(when)} />
      </td>
      <td data-label={TEXTS.to}>
        <input type="radio" name="version" value={commit} checked={place === 0} aria-label={TEXTS.toVersion(when)} />
      </td>
      <td data-label={TEXTS.time}>
        {blob === undefined ? (
          <>
            <Time value={when} isExact /> <span class="tag">{TEXTS.deleted}</span>
          </>
        ) : (
          <a href={at(version)}>
            <Time value={when} isExact />
          </a>
        )}
      </td>
      <td data-label={TEXTS.agent}>
        {agent === undefined ? <span class="soft">{TEXTS.nobodyKnown}</span> : <Iri iri={agent} base={base} />}
      </td>
      <td data-label={TEXTS.method}>
        {method ?? ''}
        {version.restores === undefined ? null : <span class="tag">{TEXTS.restored}</span>}
      </td>
      <td class="number" data-label={TEXTS.addedCount}>
        {added === undefined ? '' : `+${added}`}
      </td>
      <td class="number" data-label={TEXTS.removedCount}>
        {removed === undefined ? '' : `−${removed}`}
      </td>
      <td>
        {view.canWrite && blob !== undefined && commit !== view.current ? (
          <a href={restoreAt(version)} aria-label={TEXTS.restoreVersion(when)}>
            {TEXTS.restoreTitle}
          </a>
        ) : null}
      </td>
    </tr>
  )
}

export interface VersionView extends About {
  readonly version: Version
  /** The versions before and after it that have content. */
  readonly previous: Version | undefined
  readonly next: Version | undefined
  /** With content. */
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
  return shell(
    view,
    title,
    <>
      <div class="box notice" role="status">
        <p>
          {TEXTS.asItWas} <Time value={timeOf(version.time)} isExact />
          {version.agent === undefined ? null : (
            <>
              {TEXTS.by} <Iri iri={version.agent} base={base} />
            </>
          )}
          .
        </p>
        <ul class="actions">
          <Go href={document} label={TEXTS.currentVersion} />
          {previous ? <Go href={at(previous)} label={TEXTS.previousVersion} /> : null}
          {next ? <Go href={at(next)} label={TEXTS.nextVersion} /> : null}
          {next ? (
            <Go href={`?version=${view.latest.commit}&diff=${version.commit}`} label={TEXTS.compareCurrent} />
          ) : null}
          {view.canWrite && next ? <Go href={restoreAt(version)} label={TEXTS.restoreTitle} /> : null}
          <Go href="?timemap" label={TEXTS.history} />
        </ul>
      </div>
      <Types types={view.types} />
      <Subjects described={described} document={document} base={base} isWhole />
      <p class="aside">
        {TEXTS.formats}: <Formats more={`version=${version.commit}&`} />
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
