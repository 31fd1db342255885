// The page with the sign-up form.
import { CERT, FOAF, LACL, RDF } from '../../rdf/vocabulary.js'
import { CertificateHelp } from '../../pages/account-page.js'
import type { Refusal } from '../../pages/form-parts.js'
import { Notice, pageOf, type Frame } from '../../pages/frame.js'
import { Plain } from '../../pages/term.js'
import { worded } from '../../pages/texts.js'
import { texts } from './texts.js'

/** Regions by name, with the DBpedia resource of the English name. */
function countries(): readonly (readonly [name: string, iri: string])[] {
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const codes = letters
    .flatMap((first) => letters.map((second) => first + second))
    .filter((code) => !NO_COUNTRY.test(code))
  const own = new Intl.DisplayNames(texts().tag, { type: 'region' })
  const found = new Map<string, string>()
  for (const code of codes) {
    const name = names.of(code)
    if (name !== undefined) found.set(name, own.of(code) ?? name)
  }
  return [...found]
    .map(
      ([name, shown]) =>
        [shown, `http://dbpedia.org/resource/${encodeURIComponent(name.replaceAll(' ', '_'))}`] as const,
    )
    .sort(([a], [b]) => a.localeCompare(b, texts().tag))
}
/** Codes that ISO 3166 reserves for users, and further codes of CLDR that are not countries. */
const NO_COUNTRY = /^(?:Q[M-Z]|X[A-Z]|AA|ZZ|EU|EZ|UN)$/

export interface SignUpView {
  readonly frame: Frame
  readonly action: string
  /** True to download the certificate at once, false to get it by e-mail. */
  readonly isDownload: boolean
  /** For a refused form: the values entered, and the mistakes, by property. */
  readonly refusal?: Refusal
  readonly typed?: (property: string) => string
  readonly messages?: (property: string) => readonly string[]
}

/** RDF/POST (LinkedDataHub 2.4, 3.1), as programs send it. */
export const signUpPage = worded(({ frame, action, isDownload, refusal, ...sent }: SignUpView): string => {
  const country = sent.typed?.(FOAF('based_near'))
  return pageOf(
    frame,
    texts().signUp,
    <>
      <h1>{texts().signUp}</h1>
      {refusal ? <Notice refusal={refusal} /> : null}
      <p>{isDownload ? texts().signUpDownload : texts().signUpMail}</p>
      <form method="post" action={action}>
        <input type="hidden" name="rdf" value="" />
        <input type="hidden" name="sb" value="agent" />
        <input type="hidden" name="pu" value={RDF('type')} />
        <input type="hidden" name="ou" value={FOAF('Person')} />
        <Text id="given" property={FOAF('givenName')} label={texts().givenName} complete="given-name" sent={sent} />
        <Text id="family" property={FOAF('familyName')} label={texts().familyName} complete="family-name" sent={sent} />
        <Text id="mailbox" property={FOAF('mbox')} label={texts().mailbox} complete="email" type="email" sent={sent} />
        <input type="hidden" name="pu" value={FOAF('based_near')} />
        <label for="country">{texts().country}</label>
        <select id="country" name="ou" required>
          <option value="">{texts().nothingChosen}</option>
          {countries().map(([name, iri]) => (
            <option value={iri} selected={iri === country}>
              {name}
            </option>
          ))}
        </select>
        <input type="hidden" name="pu" value={CERT('key')} />
        <input type="hidden" name="ob" value="key" />
        <input type="hidden" name="sb" value="key" />
        <Text
          id="password"
          property={LACL('password')}
          label={texts().password}
          complete="new-password"
          type="password"
          sent={sent}
        />
        <label for="again">{texts().passwordAgain}</label>
        <input id="again" name="ol" type="password" autocomplete="new-password" required />
        <div class="actions">
          <button class="main">{texts().signUp}</button>
        </div>
      </form>
      <CertificateHelp />
    </>,
  )
})

interface TextProps {
  readonly id: string
  readonly property: string
  readonly label: string
  readonly complete: string
  readonly type?: string
  readonly sent: Pick<SignUpView, 'typed' | 'messages'>
}

function Text({ id, property, label, complete, type = 'text', sent }: TextProps) {
  const errors = sent.messages?.(property) ?? []
  const typed = type === 'password' ? '' : (sent.typed?.(property).replace(/^mailto:/i, '') ?? '')
  return (
    <>
      <input type="hidden" name="pu" value={property} />
      <label for={id}>{label}</label>
      {errors.length > 0 ? (
        <p class="error" id={`${id}-errors`}>
          <Plain text={errors.join(' ')} />
        </p>
      ) : null}
      <input
        {...{ id, name: 'ol', type, value: typed, autocomplete: complete, required: true }}
        {...(errors.length > 0 && { 'aria-invalid': 'true', 'aria-describedby': `${id}-errors` })}
      />
    </>
  )
}
