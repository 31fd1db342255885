// In charge of the pages about the client: who it is, logging in and out, signing up.
import { CERT, FOAF, LACL, RDF } from '../rdf/vocabulary.js'
import { pageOf, type Frame } from './frame.js'
import { Iri } from './term.js'
import { TEXTS } from './texts.js'

export interface AccountView {
  readonly frame: Frame
  readonly agent: string | undefined
  readonly by: 'certificate' | 'session' | 'token' | undefined
  /** Undefined where nobody may sign up. */
  readonly signUp: string | undefined
  readonly providers: readonly { readonly name: string; readonly issuer: string }[]
  readonly returnTo: string | undefined
}

export function accountPage({ frame, agent, by, signUp, providers, returnTo }: AccountView): string {
  const { site } = frame
  const title = agent === undefined ? TEXTS.logIn : TEXTS.account
  const back = returnTo === undefined ? '' : `&return=${encodeURIComponent(returnTo)}`
  return pageOf(
    frame,
    title,
    <>
      <h1>{title}</h1>
      {agent === undefined ? (
        <p>{TEXTS.anonymous}</p>
      ) : (
        <dl class="about box">
          <dt>WebID</dt>
          <dd>
            <Iri iri={agent} base={site.base} name={agent} />
          </dd>
          <dt>{TEXTS.identifiedBy}</dt>
          <dd>{by === undefined ? '' : TEXTS.identification[by]}</dd>
        </dl>
      )}
      {by === 'session' ? (
        <form method="post" action={`${site.base}oauth2/login?logout&return=${encodeURIComponent(site.home)}`}>
          <button>{TEXTS.logOut}</button>
        </form>
      ) : null}
      {agent === undefined ? (
        <>
          {providers.length > 0 ? (
            <ul class="actions">
              {providers.map(({ name, issuer }) => (
                <li>
                  <a class="button main" href={`${site.base}oauth2/login?provider=${encodeURIComponent(name)}${back}`}>
                    {TEXTS.logInWith(name)}
                  </a>{' '}
                  <span class="hint">{issuer}</span>
                </li>
              ))}
            </ul>
          ) : (
            <p>{TEXTS.noProvider}</p>
          )}
          {signUp === undefined ? null : (
            <p>
              <a href={signUp}>{TEXTS.signUp}</a>
            </p>
          )}
        </>
      ) : null}
      <Certificates />
    </>,
  )
}

const Certificates = () => (
  <section aria-labelledby="certificates">
    <h2 id="certificates">{TEXTS.certificateTitle}</h2>
    <p>{TEXTS.certificateHelp}</p>
    <ul>
      {TEXTS.certificateSteps.map((step) => (
        <li>{step}</li>
      ))}
    </ul>
  </section>
)

/** Regions by their names in English, of which DBpedia has a resource. */
function countries(): readonly (readonly [name: string, iri: string])[] {
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const codes = letters
    .flatMap((first) => letters.map((second) => first + second))
    .filter((code) => !NO_COUNTRY.test(code))
  const found = new Set(codes.flatMap((code) => names.of(code) ?? []))
  return [...found]
    .sort((a, b) => a.localeCompare(b, 'en'))
    .map((name) => [name, `http://dbpedia.org/resource/${encodeURIComponent(name.replaceAll(' ', '_'))}`])
}
/** ISO 3166: for users, and what CLDR has beside. */
const NO_COUNTRY = /^(?:Q[M-Z]|X[A-Z]|AA|ZZ|EU|EZ|UN)$/

export interface SignUpView {
  readonly frame: Frame
  readonly action: string
  /** Whether the certificate comes at once, or by e-mail. */
  readonly isDownload: boolean
}

/** RDF/POST (LinkedDataHub 2.4, 3.1), as programs send it. */
export const signUpPage = ({ frame, action, isDownload }: SignUpView): string =>
  pageOf(
    frame,
    TEXTS.signUp,
    <>
      <h1>{TEXTS.signUp}</h1>
      <p>{isDownload ? TEXTS.signUpDownload : TEXTS.signUpMail}</p>
      <form method="post" action={action}>
        <input type="hidden" name="rdf" value="" />
        <input type="hidden" name="sb" value="agent" />
        <input type="hidden" name="pu" value={RDF('type')} />
        <input type="hidden" name="ou" value={FOAF('Person')} />
        <Text id="given" property={FOAF('givenName')} label={TEXTS.givenName} complete="given-name" />
        <Text id="family" property={FOAF('familyName')} label={TEXTS.familyName} complete="family-name" />
        <Text id="mailbox" property={FOAF('mbox')} label={TEXTS.mailbox} complete="email" type="email" />
        <input type="hidden" name="pu" value={FOAF('based_near')} />
        <label for="country">{TEXTS.country}</label>
        <select id="country" name="ou">
          {countries().map(([name, iri]) => (
            <option value={iri}>{name}</option>
          ))}
        </select>
        <input type="hidden" name="pu" value={CERT('key')} />
        <input type="hidden" name="ob" value="key" />
        <input type="hidden" name="sb" value="key" />
        <Text
          id="password"
          property={LACL('password')}
          label={TEXTS.password}
          complete="new-password"
          type="password"
        />
        <label for="again">{TEXTS.passwordAgain}</label>
        <input id="again" name="ol" type="password" autocomplete="new-password" required />
        <div class="actions">
          <button class="main">{TEXTS.signUp}</button>
        </div>
      </form>
      <Certificates />
    </>,
  )

interface TextProps {
  readonly id: string
  readonly property: string
  readonly label: string
  readonly complete: string
  readonly type?: string
}

const Text = ({ id, property, label, complete, type = 'text' }: TextProps) => (
  <>
    <input type="hidden" name="pu" value={property} />
    <label for={id}>{label}</label>
    <input id={id} name="ol" type={type} autocomplete={complete} required />
  </>
)

/** Something was done: a sentence, and the way on. */
export const donePage = (
  frame: Frame,
  title: string,
  sentence: string,
  next: readonly [label: string, href: string],
): string =>
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
          <a class="button main" href={next[1]}>
            {next[0]}
          </a>
        </li>
      </ul>
    </>,
  )
