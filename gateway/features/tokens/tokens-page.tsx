// The page about access tokens: the agent's tokens, a form to create one, and the text of a new token, shown once.
import type { Refusal } from '../../pages/form-parts.js'
import { ACL, DCT, RDF, TGA, XSD } from '../../rdf/vocabulary.js'
import { Choice } from '../../pages/form-parts.js'
import { Notice, pageOf, type Frame } from '../../pages/frame.js'
import { TableHead } from '../../pages/table-head.js'
import { IriShown, Plain, Time } from '../../pages/term.js'
import { worded } from '../../pages/texts.js'
import { texts } from './texts.js'

export interface ShownToken {
  readonly id: string
  readonly name: string
  readonly agent: string
  readonly readOnly: boolean
  readonly only?: string | undefined
  /** xsd:dateTime. */
  readonly expires: string
  readonly lastUsed: string | undefined
}

export interface TokensView {
  readonly frame: Frame
  readonly tokens: readonly ShownToken[]
  /** For a refused form. */
  readonly name: string
  readonly refusal?: Refusal | undefined
  /** The text of the token just created. */
  readonly made?: string | undefined
  /** The choices for the lifetime in days, with the xsd:dateTime at which each ends. */
  readonly terms: readonly (readonly [days: number, time: string])[]
}

export const tokensPage = worded(({ frame, tokens, name, refusal, made, terms }: TokensView): string => {
  const { base, admin } = frame.site
  return pageOf(
    frame,
    texts().tokensTitle,
    <>
      <h1>{texts().tokensTitle}</h1>
      <p>{texts().tokensHelp}</p>
      {made === undefined ? null : (
        <div class="box good" role="status">
          <p>{texts().tokenMade}</p>
          <pre tabindex={0}>{made}</pre>
          <p>{texts().tokenUse}</p>
          <pre tabindex={0}>{`curl -H 'Authorization: Bearer ${made}' \\\n  ${base}`}</pre>
        </div>
      )}
      {refusal ? <Notice refusal={refusal} /> : null}
      {tokens.length === 0 ? (
        <p class="soft">{texts().noTokens}</p>
      ) : (
        <List tokens={tokens} admin={admin} base={base} />
      )}
      <h2>{texts().newToken}</h2>
      <form method="post" action={`${admin}tokens`}>
        <input type="hidden" name="rdf" value="" />
        <input type="hidden" name="sb" value="token" />
        <input type="hidden" name="pu" value={RDF('type')} />
        <input type="hidden" name="ou" value={TGA('AccessToken')} />
        <input type="hidden" name="pu" value={DCT('title')} />
        <label for="name">{texts().tokenName}</label>
        <input id="name" name="ol" value={name} autocomplete="off" required />
        <input type="hidden" name="pu" value={TGA('expires')} />
        <label for="expires">{texts().tokenExpires}</label>
        <select id="expires" name="ol">
          {terms.map(([days, time], i) => (
            <option value={time} selected={i === 1}>
              {texts().days(days)}
            </option>
          ))}
        </select>
        <input type="hidden" name="lt" value={XSD('dateTime')} />
        <input type="hidden" name="pu" value={ACL('mode')} />
        <Choice type="checkbox" name="ou" value={ACL('Read')} label={texts().tokenReads} isChosen />
        <div class="actions">
          <button class="main">{texts().makeToken}</button>
        </div>
      </form>
    </>,
  )
})

interface ListProps {
  readonly tokens: readonly ShownToken[]
  readonly admin: string
  readonly base: string
}

const List = ({ tokens, admin, base }: ListProps) => (
  <div class="card scroll" tabindex={0} role="region" aria-label={texts().tokensTitle}>
    <table>
      <TableHead columns={[texts().name, texts().who, texts().may, texts().tokenExpires, texts().lastUsed]} />
      <tbody>
        {tokens.map(({ id, name, agent, readOnly, only, expires, lastUsed }) => (
          <tr>
            <th scope="row">
              <Plain text={name} />
            </th>
            <td data-label={texts().who}>
              <IriShown iri={agent} base={base} />
            </td>
            <td data-label={texts().may}>
              {readOnly ? texts().mode('Read') : texts().allOfYours}
              {only === undefined ? null : (
                <div>
                  <IriShown iri={only} base={base} />
                </div>
              )}
            </td>
            <td class="date" data-label={texts().tokenExpires}>
              <Time value={expires} />
            </td>
            <td class="date" data-label={texts().lastUsed}>
              {lastUsed === undefined ? texts().never : <Time value={lastUsed} />}
            </td>
            <td>
              <form class="inline" method="post" action={`${admin}tokens?revoke=${encodeURIComponent(id)}`}>
                <button class="grave" aria-label={texts().revokeOf(name)}>
                  {texts().revoke}
                </button>
              </form>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
