// The parts of every page: head, navigation, the path to the document, and foot.
import type { Child } from 'hono/jsx'
import { decoded } from './labels.js'
import { Plain, visible } from './term.js'
import { texts, type Texts } from './texts.js'

/**
 * Facts about the gateway for a page. No agent is named, since agents with equal rights share the pages of documents.
 */
export interface SiteShown {
  /** The base of the application. */
  readonly base: string
  /** The bases of the end-user application of its dataspace and of the admin application. */
  readonly home: string
  readonly admin: string
  readonly title: string
  /** Paths of files, from the application's base. */
  readonly styles: readonly string[]
  readonly icon: string
  readonly logo: string
  /** The script of the query page. */
  readonly script: string
}

export interface Frame {
  readonly site: SiteShown
  readonly texts: Texts
  /** The document that the page is about, if there is one. */
  readonly document?: string | undefined
  /** True if the client is identified. */
  readonly isIdentified: boolean
  /** The path of a script that is only a convenience. */
  readonly script?: string | undefined
}

/** A complete page with this title. All text is escaped, so none of it can be code. */
export function pageOf(frame: Frame, title: string, content: Child): string {
  const { site } = frame
  const page = (
    <html lang={texts().tag}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title === site.title ? title : `${title} · ${site.title}`}</title>
        {site.styles.map((path) => (
          <link rel="stylesheet" href={path} />
        ))}
        <link rel="icon" href={site.icon} />
        {frame.script === undefined ? null : <script type="module" src={frame.script}></script>}
      </head>
      <body>
        <a class="skip" href="#main">
          {texts().skip}
        </a>
        <Top frame={frame} />
        <main id="main" class="wide">
          {content}
        </main>
        <footer class="foot">
          <div class="wide">{texts().foot}</div>
        </footer>
      </body>
    </html>
  )
  return `<!doctype html>\n${page.toString()}\n`
}

function Top({ frame }: { readonly frame: Frame }) {
  const { site, isIdentified } = frame
  return (
    <header class="top">
      <div class="wide">
        <a class="brand" href={site.home}>
          <img src={site.logo} alt="" height="28" />
          {site.title}
        </a>
        <nav aria-label={texts().navigation}>
          <ul>
            <li>
              <a href={`${site.base}sparql`}>{texts().query}</a>
            </li>
            <li>
              <a href={site.admin}>{texts().administration}</a>
            </li>
            <li>
              <a href={isIdentified ? `${site.base}access` : logInAt(frame)}>
                {isIdentified ? texts().account : texts().logIn}
              </a>
            </li>
          </ul>
        </nav>
      </div>
    </header>
  )
}

export const logInAt = ({ site, document }: Frame): string =>
  `${site.base}oauth2/login${document === undefined ? '' : `?return=${encodeURIComponent(document)}`}`

/** The message of a refusal, in English as programs receive it (WCAG 3.1.2). */
export const Detail = ({ text }: { readonly text: string }) =>
  texts().tag === 'en' ? (
    <Plain text={text} />
  ) : (
    <span lang="en">
      <Plain text={text} />
    </span>
  )

/** The reason why a form was refused. */
export const Notice = ({
  refusal: { status, detail },
  children,
}: {
  readonly refusal: { readonly status: number; readonly detail: string }
  readonly children?: Child
}) => (
  <div class="box notice" role="alert">
    <p>
      <strong>{texts().errorTitle(status)}.</strong> <Detail text={detail} />
    </p>
    {children}
  </div>
)

/** The containers above a document, named by their URLs, since their titles may be hidden from the reader. */
export function Crumbs({ site: { base, home }, document }: { readonly site: SiteShown; readonly document: string }) {
  if (document === home) return null
  const root = document.startsWith(base) ? base : home
  const steps = document
    .slice(root.length)
    .split('/')
    .filter((step) => step !== '')
  const above = steps
    .slice(0, -1)
    .map((step, i) => [visible(decoded(step)), `${root}${steps.slice(0, i + 1).join('/')}/`] as const)
  return (
    <nav class="crumbs" aria-label={texts().path}>
      <ol>
        <li>
          <a href={root}>{root === home ? texts().home : texts().administration}</a>
        </li>
        {above.map(([name, url]) => (
          <li>
            <a href={url}>{name}</a>
          </li>
        ))}
        {steps.length === 0 ? null : <li aria-current="page">{visible(decoded(steps.at(-1)!))}</li>}
      </ol>
    </nav>
  )
}
