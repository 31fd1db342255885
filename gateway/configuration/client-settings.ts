// The rows of settings about mail and clients: who may sign up, which pages may act for them, and how much room they have before the gateway knows them.
import { of, row } from './setting-row.js'
import { bytes, count, milliseconds, mailAddress, mailServer, oneOf, origin, yesOrNo } from './setting-values.js'

export const CLIENTS = [
  row(
    'sign-up',
    of('WHO', oneOf('everyone', 'invited', 'off')),
    'People who may sign up, by form or by a first log-in.',
    { otherwise: 'everyone; off with a backend by flags or init' },
  ),
  row('daily-sign-ups', of('COUNT', count), 'Most sign-ups a day, first log-ins included; one network has a tenth.', {
    default: '500',
  }),
  row('daily-access-requests', of('COUNT', count), 'Most requests for access a day; one network has a tenth.', {
    default: '500',
  }),
  row('profile-max-age', of('MS', milliseconds), 'Longest that a verified WebID profile counts, for reads.', {
    default: '60000',
  }),
  row('body-timeout', of('MS', milliseconds), 'Time limit of receiving a request body, in milliseconds.', {
    default: '30000',
  }),
  row('body-memory', of('BYTES', bytes), 'Memory for request bodies; one network has a quarter.', {
    default: '134217728',
  }),
  row('compress', of('', yesOrNo), 'Compress documents and results (gzip, br) for clients that accept it.', {
    default: 'true',
  }),
  row(
    'allow-origin',
    of('ORIGIN', origin),
    'Origin whose pages may read and write with the certificate or session of the browser.',
    { repeatable: true },
  ),
] as const

export const MAIL = [
  row('smtp-url', of('URL', mailServer), 'Mail server, such as smtps://user:password@mail.example.org.', {
    secret: true,
  }),
  row('smtp-from', of('ADDRESS', mailAddress), 'Sender address of the e-mails.'),
  row('smtp-to', of('ADDRESS', mailAddress), 'Recipient of access requests.'),
] as const
