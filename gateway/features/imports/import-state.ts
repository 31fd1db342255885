// The state of an import as RDF: in its document, in answers of the endpoint, in reports. Pure.
import type { ImportedSource, ImportProgress } from './importing.js'
import { blankNode, iri, quad, text, triple, typed, type Quad } from '../../rdf/graph.js'
import { DCT, LDH, PROV, RDF, TGI, XSD } from '../../rdf/vocabulary.js'
import { MOST_FINDINGS, type ReadProgress } from './plan.js'
import { dateTime } from '../../documents/next-state.js'

export interface Run {
  readonly plan: ImportedSource
  readonly startedAt: number
  readonly endedAt?: number
}

const STATES = {
  waiting: 'Waiting',
  running: 'Running',
  done: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
} as const

/** @param subject the IRI of the import */
export function stateTriples(subject: string, { plan, startedAt, endedAt }: Run, progress: ImportProgress): Quad[] {
  const number = (property: string, value: number): Quad =>
    triple(subject, TGI(property), typed(String(value), XSD('integer')))
  const time = (property: string, value: number): Quad =>
    triple(subject, PROV(property), typed(dateTime(value), XSD('dateTime')))
  return [
    triple(subject, RDF('type'), iri(LDH(plan.kind === 'csv' ? 'CSVImport' : 'RDFImport'))),
    triple(subject, RDF('type'), iri(PROV('Activity'))),
    triple(subject, LDH('file'), iri(plan.base)),
    triple(subject, TGI('state'), iri(TGI(STATES[progress.state]))),
    ...[plan.name, plan.into].flatMap((one) => (one === undefined ? [] : [triple(subject, TGI('into'), iri(one))])),
    number('rows', progress.rows),
    number('bytesRead', progress.bytes),
    number('bytes', progress.size),
    number('documents', progress.documents),
    number('written', progress.written),
    number('unchanged', progress.unchanged),
    number('refused', progress.refused),
    number('problems', progress.found),
    time('startedAtTime', startedAt),
    ...(endedAt === undefined ? [] : [time('endedAtTime', endedAt)]),
    ...(progress.reason === undefined ? [] : [triple(subject, DCT('description'), text(progress.reason))]),
    ...progress.findings.flatMap((finding, i) => {
      const node = blankNode(`problem${i}`)
      const of = (property: string, value: number): Quad =>
        quad(node, iri(TGI(property)), typed(String(value), XSD('integer')))
      return [
        quad(iri(subject), iri(TGI('problem')), node),
        quad(node, iri(DCT('description')), text(finding.detail.toWellFormed())),
        ...(finding.line === undefined ? [] : [of('line', finding.line)]),
        ...(finding.column === undefined ? [] : [of('column', finding.column)]),
        ...(finding.document ? [quad(node, iri(TGI('document')), text(finding.document.toWellFormed()))] : []),
      ]
    }),
  ]
}

export const newProgress = (size: number): ImportProgress => ({
  state: 'waiting',
  ...{ rows: 0, bytes: 0, size, documents: 0, written: 0, unchanged: 0, refused: 0, findings: [], found: 0 },
})

export function addFindings(
  progress: ImportProgress,
  { found, findings }: Pick<ReadProgress, 'found' | 'findings'>,
): void {
  progress.found += found
  progress.findings.push(...findings.slice(0, MOST_FINDINGS - progress.findings.length))
}

/** Called when a group has ended: after a kill, unfinished groups are written and counted again. */
export function addCounts(progress: ImportProgress, counts: ImportProgress): void {
  for (const key of ['written', 'unchanged', 'refused'] as const) progress[key] += counts[key]
  addFindings(progress, counts)
}
