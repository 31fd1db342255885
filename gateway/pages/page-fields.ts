// HTML as a format: its media type, and the fields that every page has.
import type { Field } from '../http/exchange.js'

/** No inline script or style, nothing from elsewhere, and no page of others around this one (CSP 3). */
const RULES = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
]

/** Forms need an Origin field, which `no-referrer` would make `null` (Fetch §3.1). */
const PAGE_FIELDS: readonly Field[] = [
  ['Content-Security-Policy', RULES.join('; ')],
  ['Referrer-Policy', 'same-origin'],
]

/** @param language of its texts (RFC 9110 §8.5) */
export const pageFields = (language: string): readonly Field[] => [...PAGE_FIELDS, ['Content-Language', language]]

/** A page is chosen by media type and language (RFC 9110 §12.5.5). */
export const PAGE_VARY = 'Accept, Accept-Language'

/**
 * Of a page with a script of ours. @param files the URL of the folder that it is in: what others have uploaded is in
 * another
 */
export const withScript = (files: string): Field => [
  'Content-Security-Policy',
  [...RULES, `script-src ${files}`].join('; '),
]
