// The rows of settings about listeners and the log.
import { of, row } from './setting-row.js'
import { addresses, anyText, listenHost, oneOf, port, yesOrNo } from './setting-values.js'

export const LISTENERS = [
  row('https', of('PORT', port), 'Port for HTTPS with client certificates, or off.', { default: '8443' }),
  row('http', of('PORT', port), 'Port for plain HTTP behind a TLS proxy, or off.', { default: 'off' }),
  row('tls-cert', of('FILE', anyText), 'Server certificate with its chain, in PEM; read again on SIGHUP.', {
    otherwise: 'created in {data}/certs/server.pem',
  }),
  row('tls-key', of('FILE', anyText), 'Its key, in PEM without a password.'),
  row('host', of('ADDRESS', listenHost), 'Address to listen at; :: is every address.', {
    otherwise: 'localhost if every base is on localhost, else ::',
  }),
  row('trusted-proxy', of('CIDR', addresses), 'Proxies whose Client-Cert and X-Forwarded-For the gateway believes.', {
    repeatable: true,
  }),
  row('store-pages', of('PORT', port), "Port for the store's own pages, for agents with Control, or off.", {
    default: 'off',
  }),
  row('store-pages-write', of('', yesOrNo), "Pass requests that write on to the store's own pages too.", {
    default: 'false',
  }),
  row('management', of('PORT', port), 'Port for health, metrics and purge, on loopback only, or off.', {
    default: '9464',
  }),
  row('monitoring', of('PORT', port), 'Port for health and metrics alone, for monitors on other machines, or off.', {
    default: 'off',
  }),
  row('monitoring-host', of('ADDRESS', listenHost), 'Address to listen at for monitors.', { otherwise: 'as --host' }),
  row('monitoring-token', of('TOKEN', anyText), 'Bearer token that monitors send.', { secret: true }),
] as const

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

export const LOG = [
  row('log-level', of('LEVEL', oneOf(...LEVELS)), `Minimum level to log: ${LEVELS.join(', ')}.`, {
    default: 'info',
  }),
  row(
    'log-format',
    of('FORMAT', oneOf('auto', 'json', 'pretty')),
    'Lines of JSON, or lines for people; auto: for people in a terminal, else JSON.',
    { default: 'auto' },
  ),
] as const
