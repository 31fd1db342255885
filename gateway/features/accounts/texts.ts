// The texts of the pages of sign-ups and of the owner's log-in, in English.
import { texts as shared } from '../../pages/texts.js'

export const ACCOUNT_TEXTS = {
  givenName: 'Given name',
  familyName: 'Family name',
  mailbox: 'E-mail address',
  country: 'Country',
  password: 'Password for the certificate (6 characters or more)',
  passwordAgain: 'Repeat the password',
  signUpDownload: 'You get a WebID, and download a client certificate for it.',
  signUpMail: 'You get a WebID, and a client certificate for it by e-mail.',
  signedUp: 'Check your e-mail for the next step.',
  ownerLogIn: (webId: string): string => `This link logs this browser in as the owner, ${webId}.`,
  ownerLogInOnce: 'It works once. Use it only in a browser of your own.',
  logInAsOwner: 'Log in as the owner',
} as const

export const texts = () => shared().with(ACCOUNT_TEXTS)
