// The page of the SPARQL endpoint: a query, its result as a table, and links to other formats.
import type { Quad, Term } from '../rdf/graph.js'
import { Chart } from './chart.js'
import type { DescribedSubject } from './triples-by-subject.js'
import { Subjects } from './document-page.js'
import { ErrorPlace } from './form-parts.js'
import { Notice, pageOf, type Frame } from './frame.js'
import { GraphPicture } from './graph-picture.js'
import { LABELLED_NAMESPACES } from './labels.js'
import { PointMap } from './map.js'
import { Value } from './term.js'
import { texts, worded } from './texts.js'

export interface SparqlView {
  readonly frame: Frame
  readonly query: string
  readonly outcome?: ResultShown | undefined
}

export type ResultShown =
  | { readonly kind: 'error'; readonly status: number; readonly detail: string }
  | ({ readonly kind: 'table'; readonly variables: readonly string[]; readonly rows: readonly Row[] } & Measured)
  | ({ readonly kind: 'boolean'; readonly value: boolean } & Measured)
  | ({
      readonly kind: 'graph'
      readonly subjects: readonly DescribedSubject[]
      readonly triples: readonly Quad[]
    } & Measured)

type Row = readonly (Term | undefined)[]

interface Measured {
  readonly ms: number
  /** Undefined if unknown. */
  readonly isCached: boolean | undefined
  /** The total number of rows or triples, which may exceed those shown. Undefined if the rest was not read. */
  readonly count: number | undefined
  readonly isCut: boolean
}

export const sparqlPage = worded(({ frame, query, outcome }: SparqlView): string => {
  return pageOf(
    { ...frame, script: frame.site.script },
    texts().query,
    <>
      <h1>{texts().query}</h1>
      <form
        method="get"
        action={`${frame.site.base}sparql`}
        data-earlier={texts().earlierQueries}
        data-forget={texts().forgetQueries}
        data-stop={texts().stop}
      >
        <label for="query">{texts().queryLabel}</label>
        <p class="hint" id="help">
          {texts().queryHelp}
        </p>
        <textarea
          class="code"
          id="query"
          name="query"
          rows={Math.min(30, Math.max(10, query.split('\n').length + 1))}
          spellcheck={false}
          autocapitalize="off"
          aria-describedby="help"
          {...(outcome?.kind === 'error' && { 'aria-invalid': 'true' })}
        >
          {`\n${query}`}
        </textarea>
        <div class="actions">
          <button class="main">{texts().run}</button>
        </div>
      </form>
      <Beside base={frame.site.base} />
      {outcome ? <Result outcome={outcome} query={query} frame={frame} /> : null}
    </>,
  )
})

interface ResultProps {
  readonly outcome: ResultShown
  readonly query: string
  readonly frame: Frame
}

function Result({ outcome, query, frame }: ResultProps) {
  const { base } = frame.site
  if (outcome.kind === 'error') {
    return (
      <Notice refusal={outcome}>
        <ErrorPlace text={query} refusal={outcome} />
      </Notice>
    )
  }
  return (
    <section aria-labelledby="result">
      <h2 id="result">{texts().result}</h2>
      <p class="hint">
        {outcome.kind === 'boolean' || outcome.count === undefined
          ? ''
          : `${outcome.kind === 'graph' ? texts().triples(outcome.count) : texts().rows(outcome.count)}, `}
        {texts().took(outcome.ms)}
        {outcome.isCached === undefined ? '' : `, ${outcome.isCached ? texts().fromCache : texts().fromStore}`}.{' '}
        {outcome.isCut ? texts().resultCut : ''}
      </p>
      {outcome.kind === 'table' ? <PointMap result={outcome} /> : null}
      {outcome.kind === 'table' ? <Chart result={outcome} /> : null}
      <Shown outcome={outcome} base={base} />
      <p>
        {texts().download}: <Downloads isGraph={outcome.kind === 'graph'} query={query} base={base} />
      </p>
      <p>
        <a href={`${base}sparql?query=${encodeURIComponent(query)}`}>{texts().share}</a>
      </p>
    </section>
  )
}

/** Queries about the available data. Each agent sees only what it may read. */
const ABOUT = [
  // Without a pattern no triples are scanned: stores keep a list of their graphs (SPARQL 1.1 §18.6).
  ['readable', 'SELECT ?graph WHERE { GRAPH ?graph { } } ORDER BY ?graph LIMIT 500'],
  ['classes', 'SELECT ?class (COUNT(*) AS ?uses) WHERE { GRAPH ?graph { ?s a ?class } } GROUP BY ?class ORDER BY DESC(?uses) LIMIT 500'], // prettier-ignore
  ['properties', 'SELECT ?property (COUNT(*) AS ?uses) WHERE { GRAPH ?graph { ?s ?property ?o } } GROUP BY ?property ORDER BY DESC(?uses) LIMIT 500'], // prettier-ignore
] as const

const Beside = ({ base }: { readonly base: string }) => (
  <>
    <p>
      {ABOUT.map(([name, query], i) => (
        <>
          {i === 0 ? '' : ' · '}
          <a href={`${base}sparql?query=${encodeURIComponent(query)}`}>{texts()[name]}</a>
        </>
      ))}
    </p>
    <details>
      <summary>{texts().prefixes}</summary>
      <p class="hint">{texts().prefixesHelp}</p>
      <pre id="prefixes" tabindex={0}>
        {LABELLED_NAMESPACES.map(([prefix, namespace]) => `PREFIX ${prefix}: <${namespace}>\n`).join('')}
      </pre>
    </details>
  </>
)

function Shown({
  outcome,
  base,
}: {
  readonly outcome: Exclude<ResultShown, { kind: 'error' }>
  readonly base: string
}) {
  if (outcome.kind === 'boolean') return <p class="box">{outcome.value ? texts().yes : texts().no}</p>
  if (outcome.kind === 'graph') {
    return (
      <>
        <GraphPicture triples={outcome.triples} />
        <Subjects described={outcome} document="" base={base} />
      </>
    )
  }
  return (
    <div class="card scroll" tabindex={0} role="region" aria-label={texts().table}>
      <table>
        <thead>
          <tr>
            {outcome.variables.map((name) => (
              <th scope="col">{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {outcome.rows.map((row) => (
            <tr>
              {row.map((term, i) => (
                <td data-label={outcome.variables[i]}>{term ? <Value term={term} base={base} /> : null}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const TABLES = [
  ['CSV', 'csv'],
  ['TSV', 'tsv'],
  ['JSON', 'json'],
  ['XML', 'xml'],
] as const
const GRAPHS = [
  ['Turtle', 'turtle'],
  ['N-Triples', 'nt'],
  ['JSON-LD', 'jsonld'],
  ['RDF/XML', 'rdf'],
] as const

const Downloads = ({
  isGraph,
  query,
  base,
}: {
  readonly isGraph: boolean
  readonly query: string
  readonly base: string
}) => (
  <>
    {(isGraph ? GRAPHS : TABLES).map(([name, format], i) => (
      <>
        {i === 0 ? '' : ' · '}
        <a href={`${base}sparql?query=${encodeURIComponent(query)}&format=${format}`} download={`result.${format}`}>
          {name}
        </a>
      </>
    ))}
  </>
)
