// The page about access to a document: what the agent may do and why. Agents with Control also see who else has access
// and why, can check the access of any agent, and can grant or revoke rights.
import type { Mode } from '../../../policies/authorizations/authorization.js'
import type { GrantingAuthorization } from '../../../policies/authorizations/evidence.js'
import type { Decision } from '../../../policies/decide.js'
import { ACL, RDF } from '../../rdf/vocabulary.js'
import { AuditTable, type Audit } from './audit.js'
import { Choice } from '../../pages/form-parts.js'
import { Crumbs, pageOf, type Frame } from '../../pages/frame.js'
import { IriShown } from '../../pages/term.js'
import { WaitingList, type WaitingRequests } from './waiting-list.js'
import { worded } from '../../pages/texts.js'
import { texts } from './texts.js'

export interface AccessView {
  readonly frame: Frame
  /**
   * The base of the application that shows the page, which need not be the one of the document. Forms are sent to it:
   * the page's policy (form-action, CSP 3 §6.4.2) lets them reach no other origin.
   */
  readonly own: string
  readonly document: string
  /** The WebID of the agent. */
  readonly agent: string | undefined
  readonly decisions: readonly Decision[]
  /** For agents with Control. */
  readonly audit?: Audit | undefined
  /** The question of the agent about another agent. */
  readonly question?: AccessQuestion | undefined
  readonly waiting: WaitingRequests
}

export interface AccessQuestion {
  readonly agent: string
  readonly mode: string
  /** Undefined if nothing was asked yet; else the decision, or the mistake in the question. */
  readonly answer: Decision | string | undefined
}

export const MODES: readonly Mode[] = ['Read', 'Append', 'Write', 'Control']

export const accessPage = worded((view: AccessView): string => {
  const { frame, own, document, agent, decisions, audit, question, waiting } = view
  const { base } = frame.site
  const missing = MODES.filter(
    (mode) => mode !== 'Control' && !decisions.some((one) => one.required === mode && one.allowed),
  )
  return pageOf(
    frame,
    texts().access,
    <>
      <Crumbs site={frame.site} document={document} />
      <h1>{texts().access}</h1>
      <p>
        {texts().accessTo} <a href={document}>{document}</a>
      </p>
      <h2>{agent === undefined ? texts().everyoneMay : texts().youMay}</h2>
      <div class="card scroll">
        <table>
          <tbody>
            {decisions.map((decision) => (
              <tr>
                <th scope="row">{decision.required}</th>
                <td>{decision.allowed ? texts().yes : texts().no}</td>
                <td>
                  <Reason decision={decision} base={base} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {agent !== undefined && missing.length > 0 && audit === undefined ? (
        <AskForAccess own={own} document={document} missing={missing} />
      ) : null}
      <WaitingList requests={waiting} base={base} admin={frame.site.admin} own={own} />
      {audit ? <AuditTable audit={audit} document={document} base={base} /> : null}
      {question ? <Ask question={question} document={document} base={base} own={own} /> : null}
      {audit ? <Grant own={own} document={document} /> : null}
    </>,
  )
})

function Reason({ decision, base }: { readonly decision: Decision; readonly base: string }) {
  const { reason, via, allowed } = decision
  return (
    <>
      {texts().reason(reason)}
      {allowed ? via.map((grant) => <Through grant={grant} base={base} />) : null}
    </>
  )
}

const Through = ({ grant, base }: { readonly grant: GrantingAuthorization; readonly base: string }) => (
  <>
    {' · '}
    <IriShown iri={grant.graph} base={base} />
    {grant.group === undefined ? null : (
      <>
        {' '}
        (<IriShown iri={grant.group} base={base} />)
      </>
    )}
  </>
)

interface AskProps {
  readonly own: string
  readonly document: string
  readonly missing: readonly Mode[]
}

/** RDF/POST (LinkedDataHub 3.1), as programs send it. */
const AskForAccess = ({ own, document, missing }: AskProps) => (
  <form method="post" action={`${own}access/request`}>
    <h2>{texts().askTitle}</h2>
    <input type="hidden" name="rdf" value="" />
    <input type="hidden" name="sb" value="request" />
    <input type="hidden" name="pu" value={RDF('type')} />
    <input type="hidden" name="ou" value={ACL('Authorization')} />
    <input type="hidden" name="pu" value={ACL('accessTo')} />
    <input type="hidden" name="ou" value={document} />
    <input type="hidden" name="pu" value={ACL('mode')} />
    <fieldset>
      <legend>{texts().askFor}</legend>
      {missing.map((mode, i) => (
        <Choice type="checkbox" name="ou" value={ACL(mode)} label={texts().mode(mode)} isChosen={i === 0} />
      ))}
    </fieldset>
    <button class="main">{texts().ask}</button>
  </form>
)

interface QuestionProps {
  readonly question: AccessQuestion
  readonly document: string
  readonly base: string
  readonly own: string
}

const Ask = ({ question: { agent, mode, answer }, document, base, own }: QuestionProps) => (
  <form method="get" action={`${own}access`} class="box">
    <h2>{texts().questionTitle}</h2>
    <input type="hidden" name="this" value={document} />
    <label for="agent">{texts().questionAgent}</label>
    <input id="agent" name="agent" value={agent} autocomplete="off" />
    <label for="mode">{texts().questionMode}</label>
    <select id="mode" name="mode">
      {MODES.map((one) => (
        <option value={one} selected={one === mode}>
          {one}
        </option>
      ))}
    </select>
    <div class="actions">
      <button>{texts().questionAsk}</button>
    </div>
    {answer === undefined ? null : (
      <p role="status">
        {typeof answer === 'string' ? (
          answer
        ) : (
          <>
            <strong>{answer.allowed ? texts().yes : texts().no}</strong>: <Reason decision={answer} base={base} />
          </>
        )}
      </p>
    )}
  </form>
)

const Grant = ({ own, document }: { readonly own: string; readonly document: string }) => (
  <form method="post" action={`${own}access`} class="box">
    <h2 id="grant">{texts().grantTitle}</h2>
    <input type="hidden" name="document" value={document} />
    <fieldset>
      <legend>{texts().grantTo}</legend>
      <Choice name="to" value="agent" label={texts().grantAgent} isChosen />
      <Choice name="to" value="group" label={texts().grantGroup} isChosen={false} />
      <Choice name="to" value="identified" label={texts().subject('authenticated-agent')} isChosen={false} />
      <Choice name="to" value="everyone" label={texts().subject('public')} isChosen={false} />
      <label for="who">{texts().grantWho}</label>
      <input id="who" name="who" autocomplete="off" />
    </fieldset>
    <fieldset>
      <legend>{texts().may}</legend>
      {MODES.filter((mode) => mode !== 'Control').map((mode) => (
        <Choice type="checkbox" name="mode" value={mode} label={texts().mode(mode)} isChosen={mode === 'Read'} />
      ))}
    </fieldset>
    <fieldset>
      <legend>{texts().grantOn}</legend>
      <Choice name="on" value="document" label={texts().grantDocument} isChosen />
      <Choice name="on" value="below" label={texts().grantBelow} isChosen={false} />
    </fieldset>
    <button class="main">{texts().grant}</button>
  </form>
)
