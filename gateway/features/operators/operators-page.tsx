// The operators' page on the management listener: the state of the gateway at a glance. It refreshes itself.
import { STATUS_CODES } from 'node:http'
import type { Child } from 'hono/jsx'
import type { HistoryStatus } from '../../../versioning/history.js'
import { Plain } from '../../pages/term.js'
import type { Recent, SeenRequest } from '../../recent-failures.js'
import { worded, type Texts } from '../../pages/texts.js'
import { pageTexts, texts } from './texts.js'

export interface OperatorsView {
  readonly frame: { readonly texts: Texts }
  readonly styles: readonly string[]
  readonly at: number
  readonly isReady: boolean
  readonly checks: readonly { readonly what: string; readonly problem?: string; readonly warning?: string }[]
  readonly histories: readonly { readonly base: string; readonly status: HistoryStatus }[]
  readonly caches: readonly (readonly [name: string, bytes: number])[]
  readonly holds: { readonly longest: number; readonly lastMinute: number; readonly count: number }
  readonly recent: Recent
  /** True if the page does not refresh itself. */
  readonly isStill: boolean
  readonly hasPurged: boolean
}

export const operatorsPage = worded((view: OperatorsView): string => {
  const { isReady, checks, isStill, hasPurged, at } = view
  const page = (
    <html lang={pageTexts().tag}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{`${isReady ? texts().ready : texts().notReady} · ${texts().title}`}</title>
        {view.styles.map((name) => (
          <link rel="stylesheet" href={`/static/${name}`} />
        ))}
      </head>
      <body>
        <main class="wide">
          <h1>{texts().title}</h1>
          <p>
            {texts().at(dateOf(at))} {isStill ? <a href="/">{texts().again}</a> : <a href="/?still">{texts().still}</a>}
          </p>
          {hasPurged ? (
            <p class="box good" role="status">
              {texts().purged}
            </p>
          ) : null}
          <Section name="health" title={texts().health}>
            <p class={isReady ? 'box good' : 'box notice'}>{isReady ? texts().ready : texts().notReady}</p>
            <Table heads={[texts().part, texts().state]}>
              {checks.map(({ what, problem, warning }) => (
                <tr>
                  <th scope="row">{what}</th>
                  <td>
                    <Plain text={problem ?? warning ?? texts().good} />
                  </td>
                </tr>
              ))}
            </Table>
          </Section>
          <Histories view={view} />
          <Figures view={view} />
          <Requests name="refused" title={texts().refused} empty={texts().noneRefused} seen={view.recent.refused} />
          <Requests name="slow" title={texts().slow} empty={texts().noneSlow} seen={view.recent.slow} />
          <Purge />
        </main>
      </body>
    </html>
  )
  return `<!doctype html>\n${page.toString()}\n`
})

const Section = ({
  name,
  title,
  children,
}: {
  readonly name: string
  readonly title: string
  readonly children?: Child
}) => (
  <section aria-labelledby={name}>
    <h2 id={name}>{title}</h2>
    {children}
  </section>
)

interface TableProps {
  readonly heads: readonly string[]
  /** The index of the first column with numbers. */
  readonly numbers?: number
  readonly children?: Child
}

const Table = ({ heads, numbers = Infinity, children }: TableProps) => (
  <div class="card scroll">
    <table>
      <thead>
        <tr>
          {heads.map((head, i) => (
            <th scope="col" class={i >= numbers ? 'number' : undefined}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
)

const Histories = ({ view: { histories, at } }: { readonly view: OperatorsView }) => (
  <Section name="journal" title={texts().journal}>
    {histories.length === 0 ? (
      <p>{texts().noHistory}</p>
    ) : (
      <Table numbers={1} heads={[texts().application, texts().commits, texts().waiting, texts().doubt, texts().lag]}>
        {histories.map(({ base, status: { commits, depth, inDoubt, oldest } }) => (
          <tr>
            <th scope="row">{base}</th>
            <td class="number" data-label={texts().commits}>
              {count(commits)}
            </td>
            <td class="number" data-label={texts().waiting}>
              {count(depth)}
            </td>
            <td class="number" data-label={texts().doubt}>
              {count(inDoubt)}
            </td>
            <td class="number" data-label={texts().lag}>
              {texts().seconds(oldest === undefined ? 0 : Math.max(0, at - oldest) / 1000)}
            </td>
          </tr>
        ))}
      </Table>
    )}
  </Section>
)

const Figures = ({ view: { recent, caches, holds } }: { readonly view: OperatorsView }) => (
  <Section name="cache" title={texts().cache}>
    <dl class="about box">
      <dt>{texts().answers}</dt>
      <dd>{count(recent.answers)}</dd>
      <dt>{texts().hitRate}</dt>
      <dd>{recent.answers === 0 ? '–' : `${((100 * recent.withoutStore) / recent.answers).toFixed(1)} %`}</dd>
      {caches.map(([name, bytes]) => (
        <>
          <dt>{texts().cacheOf(name)}</dt>
          <dd>{texts().megabytes(bytes / 1e6)}</dd>
        </>
      ))}
      <dt>{texts().holds}</dt>
      <dd>{texts().held(holds.longest * 1000, holds.lastMinute * 1000, holds.count)}</dd>
    </dl>
  </Section>
)

interface RequestsProps {
  readonly name: string
  readonly title: string
  readonly empty: string
  readonly seen: readonly SeenRequest[]
}

const Requests = ({ name, title, empty, seen }: RequestsProps) => (
  <Section name={name} title={title}>
    {seen.length === 0 ? (
      <p>{empty}</p>
    ) : (
      <Table numbers={4} heads={[texts().time, texts().request, texts().answer, texts().agent, texts().took]}>
        {seen.toReversed().map(({ time, id, method, path, status, agent, ms, storeMs, reason }) => (
          <tr>
            <td class="date" data-label={texts().time}>
              {dateOf(time)}
            </td>
            <td data-label={texts().request}>
              <code>
                {method} <Plain text={path} most={300} />
              </code>{' '}
              <span class="tag">{id}</span>
            </td>
            <td data-label={texts().answer}>
              {status} {STATUS_CODES[status] ?? ''}
              {reason === undefined ? '' : `: ${reason}`}
            </td>
            <td class="iri" data-label={texts().agent}>
              {agent ?? texts().anonymous}
            </td>
            <td class="number" data-label={texts().took}>
              {texts().ms(ms, storeMs)}
            </td>
          </tr>
        ))}
      </Table>
    )}
  </Section>
)

const Purge = () => (
  <Section name="purge" title={texts().purge}>
    <p>{texts().purgeHelp}</p>
    <form method="post" action="/purge">
      <label for="graph">{texts().purgeGraph}</label>
      <input id="graph" name="graph" autocomplete="off" inputmode="url" />
      <div class="actions">
        <button class="grave">{texts().purgeNow}</button>
      </div>
    </form>
  </Section>
)

const count = (number: number): string => number.toLocaleString(pageTexts().tag)
const dateOf = (time: number): string =>
  new Date(time)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC')
