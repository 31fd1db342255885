// The page of an error: the same status and message as in RDF (spec 2.2), and what the reader can do.
import { bySubject, type DescribedProperty } from './triples-by-subject.js'
import { Crumbs, Detail, logInAt, pageOf, type Frame } from './frame.js'
import { CERTS } from './start-here.js'
import { texts, worded } from './texts.js'
import { TypedAgain, type KeptForm } from './refill-form.js'
import { preferredText } from './preferred-text.js'
import { readNTriples } from '../rdf/read.js'
import { isSkolem } from '../rdf/skolemised.js'
import { RDF, SH } from '../rdf/vocabulary.js'
import { NamedTerm, Plain, Value } from './term.js'

export interface ErrorView {
  readonly frame: Frame
  readonly status: number
  readonly phrase: string
  readonly detail: string
  /** Canonical N-Triples of a validation report. */
  readonly report?: string | undefined
  readonly requestId: string
  /** The refused form, if there was one. */
  readonly sent?: KeptForm | undefined
}

export const errorPage = worded(({ frame, status, phrase, detail, report, requestId, sent }: ErrorView): string => {
  const { document, site, isIdentified } = frame
  const title = texts().errorTitle(status)
  const advice = texts().errorAdvice(status)
  const logsIn = !isIdentified && (status === 401 || status === 403)
  return pageOf(
    frame,
    title,
    <>
      {document === undefined ? null : <Crumbs site={site} document={document} />}
      <h1>{title}</h1>
      <div class="box notice">
        <p>
          <Detail text={detail} />
        </p>
        {advice === undefined ? null : <p>{advice}</p>}
      </div>
      <Violations report={report} base={site.base} />
      {sent ? <TypedAgain sent={sent} /> : null}
      <ul class="actions">
        {logsIn ? (
          <Action
            label={sent ? texts().logInBeside : texts().logIn}
            href={logInAt(frame)}
            isMain
            isBeside={sent !== undefined}
          />
        ) : null}
        {status === 403 && isIdentified && document !== undefined ? (
          <Action
            label={texts().askForAccess}
            href={`${site.base}access?this=${encodeURIComponent(document)}`}
            isMain
          />
        ) : null}
        {document !== undefined && !sent && status !== 403 && status !== 404 ? (
          <Action label={texts().retry} href={document} />
        ) : null}
        {document === site.home ? null : <Action label={texts().backHome} href={site.home} />}
      </ul>
      {logsIn ? <ImportCertificate /> : null}
      <p class="hint">
        {texts().status} {status} {phrase} · {texts().request} <code>{requestId}</code>
      </p>
    </>,
  )
})

/** The owner's certificate, and the server's (start/certificates.ts). */
const ImportCertificate = () => (
  <details>
    <summary>{texts().importOwner}</summary>
    <p>{texts().importHelp}</p>
    <pre tabindex={0}>
      {`certutil -A -d sql:$HOME/.pki/nssdb -n triplegate -t P,, -i ${CERTS}/server.pem\npk12util -d sql:$HOME/.pki/nssdb -i ${CERTS}/owner.p12 -W triplegate`}
    </pre>
  </details>
)

interface ActionProps {
  readonly label: string
  readonly href: string
  readonly isMain?: boolean
  /** Opens a new window, so that this one keeps what was typed. */
  readonly isBeside?: boolean
}

const Action = ({ label, href, isMain, isBeside }: ActionProps) => (
  <li>
    <a class={isMain ? 'button main' : 'button'} href={href} {...(isBeside && { target: '_blank', rel: 'noopener' })}>
      {label}
    </a>
  </li>
)

/** The results of a SHACL validation report, each with its property and message. */
export function Violations({ report, base }: { readonly report: string | undefined; readonly base: string }) {
  const results = resultsIn(report)
  if (results.length === 0) return null
  return (
    <section aria-labelledby="violations">
      <h2 id="violations">{texts().violations}</h2>
      <ul>
        {results.map((properties) => {
          const all = (name: string) => properties.find(({ predicate }) => predicate === SH(name))?.objects ?? []
          const [[path], [node], [value]] = [all('resultPath'), all('focusNode'), all('value')]
          const message = preferredText(all('resultMessage'), texts().tag)
          // A path of several steps is a node of the report, and its label tells nothing.
          const property = path?.termType === 'NamedNode' && !isSkolem(path.value) ? path.value : undefined
          return (
            <li>
              {property === undefined ? null : (
                <>
                  <NamedTerm iri={property} />
                  {': '}
                </>
              )}
              {message ? <Plain text={message.value} /> : null} {value ? <Value term={value} base={base} /> : null}
              {node ? (
                <span class="hint">
                  {' '}
                  (<Value term={node} base={base} />)
                </span>
              ) : null}
            </li>
          )
        })}
      </ul>
    </section>
  )
}

const MOST_RESULTS = 100

const resultsIn = (report: string | undefined): readonly (readonly DescribedProperty[])[] =>
  bySubject('', (report && readNTriples(report)) || [])
    .map(({ properties }) => properties)
    .filter((properties) =>
      properties.some(
        ({ predicate, objects }) =>
          predicate === RDF('type') && objects.some(({ value }) => value === SH('ValidationResult')),
      ),
    )
    .slice(0, MOST_RESULTS)
