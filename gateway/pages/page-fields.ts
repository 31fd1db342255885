// HTML as a format: its media type, and the fields of every page.
import type { Field } from '../http/exchange.js'

/** No inline scripts or styles, no foreign content, and no embedding in pages of others (CSP 3). */
const RULES = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
]

/** Forms need an Origin field, which `no-referrer` would make `null` (Fetch §3.1). */
export const PAGE_FIELDS: readonly Field[] = [
  ['Content-Security-Policy', RULES.join('; ')],
  ['Referrer-Policy', 'same-origin'],
]

/** @param language the language of its texts (RFC 9110 §8.5) */
export const pageFields = (language: string): readonly Field[] => [...PAGE_FIELDS, ['Content-Language', language]]

/** A page is chosen by media type and language (RFC 9110 §12.5.5). */
export const PAGE_VARY = 'Accept, Accept-Language'

/** For a page with a script of ours. @param files the URL of its folder; uploaded files are in another folder */
export const withScript = (files: string): Field => [
  'Content-Security-Policy',
  [...RULES, `script-src ${files}`].join('; '),
]
