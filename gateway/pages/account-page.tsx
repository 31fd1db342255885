// The page about the client: who they are, logging in and out, and what awaits their decision.
import type { Child } from 'hono/jsx'
import { pageOf, type Frame, type SiteShown } from './frame.js'
import { IriShown } from './term.js'
import { texts, worded } from './texts.js'

export interface AccountView {
  readonly frame: Frame
  readonly agent: string | undefined
  readonly name: string | undefined
  readonly by: 'certificate' | 'session' | 'token' | undefined
  /** Undefined if nobody may sign up. */
  readonly signUp: string | undefined
  readonly providers: readonly { readonly name: string; readonly issuer: string }[]
  readonly returnTo: string | undefined
  readonly hasTokens: boolean
  /** The requests that await the agent's decision. */
  readonly waiting: Child
}

export const accountPage = worded((view: AccountView): string => {
  const { frame, agent, by, signUp, providers, returnTo, hasTokens, waiting } = view
  const { site } = frame
  const title = agent === undefined ? texts().logIn : texts().account
  const back = returnTo === undefined ? '' : `&return=${encodeURIComponent(returnTo)}`
  return pageOf(
    frame,
    title,
    <>
      <h1>{title}</h1>
      {agent === undefined ? <p>{texts().anonymous}</p> : <Who view={view} agent={agent} />}
      {agent === undefined || !hasTokens ? null : (
        <p>
          <a href={`${site.admin}tokens`}>{texts().tokensTitle}</a>
        </p>
      )}
      {waiting}
      {by === 'session' ? (
        <form method="post" action={`${site.base}oauth2/login?logout&return=${encodeURIComponent(nearestHome(site))}`}>
          <button>{texts().logOut}</button>
        </form>
      ) : null}
      {agent === undefined ? (
        <>
          {providers.length > 0 ? (
            <ul class="actions">
              {providers.map(({ name, issuer }) => (
                <li>
                  <a class="button main" href={`${site.base}oauth2/login?provider=${encodeURIComponent(name)}${back}`}>
                    {texts().logInWith(name)}
                  </a>{' '}
                  <span class="hint">{issuer}</span>
                </li>
              ))}
            </ul>
          ) : (
            <p>{texts().noProvider}</p>
          )}
          {signUp === undefined ? null : (
            <p>
              <a href={signUp}>{texts().signUp}</a>
            </p>
          )}
        </>
      ) : null}
      <CertificateHelp />
    </>,
  )
})

/** CSP 3 §6.4.2.1: the redirection after a form must stay at the page's origin (form-action). */
const nearestHome = ({ base, home }: SiteShown): string =>
  new URL(home).origin === new URL(base).origin ? home : `${base}access`

const Who = ({ view, agent }: { readonly view: AccountView; readonly agent: string }) => (
  <dl class="about box">
    {view.name === undefined ? null : (
      <>
        <dt>{texts().name}</dt>
        <dd>{view.name}</dd>
      </>
    )}
    <dt>WebID</dt>
    <dd>
      <IriShown iri={agent} base={view.frame.site.base} name={agent} />
    </dd>
    <dt>{texts().identifiedBy}</dt>
    <dd>{view.by === undefined ? '' : texts().identification[view.by]}</dd>
  </dl>
)

export const CertificateHelp = () => (
  <section aria-labelledby="certificates">
    <h2 id="certificates">{texts().certificateTitle}</h2>
    <p>{texts().certificateHelp}</p>
    <ul>
      {texts().certificateSteps.map((step) => (
        <li>{step}</li>
      ))}
    </ul>
  </section>
)

interface DoneView {
  readonly frame: Frame
  readonly title: string
  readonly sentence: string
  readonly next: readonly [label: string, href: string]
}

/** A confirmation: one sentence, and a link to continue. */
export const donePage = worded(({ frame, title, sentence, next: [label, href] }: DoneView): string =>
  pageOf(
    frame,
    title,
    <>
      <h1>{title}</h1>
      <div class="box good">
        <p>{sentence}</p>
      </div>
      <ul class="actions">
        <li>
          <a class="button main" href={href}>
            {label}
          </a>
        </li>
      </ul>
    </>,
  ),
)
