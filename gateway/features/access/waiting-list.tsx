// The list of waiting requests for access, each with a button to grant and one to refuse it.
import { TableHead } from '../../pages/table-head.js'
import { IriShown } from '../../pages/term.js'
import { texts } from './texts.js'

export interface WaitingRequest {
  readonly document: string
  readonly agents: readonly string[]
  readonly modes: readonly string[]
  readonly on: readonly string[]
}

export interface WaitingRequests {
  /** Undefined if they cannot be listed now. */
  readonly shown: readonly WaitingRequest[] | undefined
  /** True if there are more. */
  readonly hasMore: boolean
}

interface Props {
  readonly requests: WaitingRequests
  readonly base: string
  readonly admin: string
  /** As in AccessView. */
  readonly own: string
}

export const WaitingList = ({ requests: { shown, hasMore }, base, admin, own }: Props) =>
  shown === undefined ? (
    <div class="box notice" role="alert">
      <p>
        {texts().notListed} <a href={`${admin}acl/authorization-requests/`}>{texts().waitingDocuments}</a>
      </p>
    </div>
  ) : shown.length === 0 ? null : (
    <section aria-labelledby="waiting">
      <h2 id="waiting">{texts().waitingTitle}</h2>
      <div class="card scroll">
        <table>
          <TableHead columns={[texts().who, texts().wants, texts().on]} />
          <tbody>
            {shown.map(({ document, agents, modes, on }) => (
              <tr>
                <Iris label={texts().who} iris={agents} base={base} />
                <td data-label={texts().wants}>{modes.join(', ')}</td>
                <Iris label={texts().on} iris={on} base={base} />
                <td>
                  <Decide own={own} document={document} kind="grant" label={texts().grantRequest} />{' '}
                  <Decide own={own} document={document} kind="refuse" label={texts().refuseRequest} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {hasMore ? <p class="hint">{texts().waitingFirst(shown.length)}</p> : null}
    </section>
  )

interface IrisProps {
  readonly label: string
  readonly iris: readonly string[]
  readonly base: string
}

const Iris = ({ label, iris, base }: IrisProps) => (
  <td data-label={label}>
    {iris.map((iri) => (
      <div>
        <IriShown iri={iri} base={base} />
      </div>
    ))}
  </td>
)

interface DecideProps {
  readonly own: string
  readonly document: string
  readonly kind: 'grant' | 'refuse'
  readonly label: string
}

const Decide = ({ own, document, kind, label }: DecideProps) => (
  <form class="inline" method="post" action={`${own}access/request?${kind}=${encodeURIComponent(document)}`}>
    <button class={kind === 'grant' ? 'main' : 'grave'}>{label}</button>
  </form>
)
