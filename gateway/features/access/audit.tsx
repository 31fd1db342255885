// The table of rights on a document: who has which, and by which rules. A rule that also covers other documents has no
// button to delete it.
import { isOfOne, type Coverage } from '../../../policies/authorizations/coverage.js'
import type { Audited } from '../../../policies/authorizations/evidence.js'
import { CoverageShown } from '../../pages/covers.js'
import { TableHead } from '../../pages/table-head.js'
import { IriShown } from '../../pages/term.js'
import { texts } from './texts.js'

/** An authorization, and everything that it covers besides the document. */
type Rule = Audited & { readonly coverage: Coverage }

export interface Audit {
  readonly rules: readonly Rule[]
  readonly owners: readonly string[]
}

interface Props {
  readonly audit: Audit
  readonly document: string
  readonly base: string
}

export const AuditTable = ({ audit: { rules, owners }, document, base }: Props) => (
  <section aria-labelledby="audit">
    <h2 id="audit">{texts().auditTitle}</h2>
    <div class="card scroll">
      <table>
        <TableHead columns={[texts().who, texts().may, texts().because]} />
        <tbody>
          {owners.map((owner) => (
            <tr>
              <td data-label={texts().who}>
                <IriShown iri={owner} base={base} />
              </td>
              <td data-label={texts().may}>Read, Append, Write</td>
              <td data-label={texts().because}>{texts().reason('owner')}</td>
              <td />
            </tr>
          ))}
          {rules.map((rule) => (
            <RuleRow rule={rule} document={document} base={base} />
          ))}
        </tbody>
      </table>
    </div>
    {rules.every(({ coverage }) => isOfOne(coverage)) ? null : (
      <p class="hint">
        {texts().wideRules} <a href="#grant">{texts().grantTitle}</a>
      </p>
    )}
  </section>
)

interface RuleProps {
  readonly rule: Rule
  readonly document: string
  readonly base: string
}

const RuleRow = ({ rule: { graph, modes, subjects, coverage }, document, base }: RuleProps) => (
  <tr>
    <td data-label={texts().who}>
      {subjects.map(({ kind, iri }) => (
        <div>{iri === undefined ? texts().subject(kind) : <IriShown iri={iri} base={base} />}</div>
      ))}
    </td>
    <td data-label={texts().may}>{modes.join(', ')}</td>
    <td data-label={texts().because}>
      <IriShown iri={graph} base={base} />
      <CoverageShown coverage={coverage} document={document} base={base} />
    </td>
    <td>
      {isOfOne(coverage) ? (
        <a href={`${graph}?form=delete`} aria-label={texts().takeAwayOf(graph)}>
          {texts().takeAway}
        </a>
      ) : (
        <a href={`${graph}?form=edit`} aria-label={texts().changeRuleOf(graph)}>
          {texts().changeRule}
        </a>
      )}
    </td>
  </tr>
)
