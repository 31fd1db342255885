// The answer with the operators' page, and the files that the page needs.
import { membersOf, type Dataspace, type Gateway } from '../../gateway.js'
import type { Request, Response } from '../../http/exchange.js'
import { pageFields } from '../../pages/page-fields.js'
import { textsOf } from '../../request/page-answer.js'
import { operatorsPage, type OperatorsView } from './operators-page.js'

interface Seen {
  readonly dataspaces: readonly Dataspace[]
  readonly gateway: Gateway
  readonly checks: OperatorsView['checks']
  readonly query: URLSearchParams
  readonly fields: Request['fields']
}

const REFRESH_S = 10

export function operatorsAnswer({ dataspaces, gateway, checks, query, fields }: Seen): Response {
  const members = membersOf(dataspaces).map(({ application }) => application)
  const isStill = query.has('still')
  const { html, language } = operatorsPage({
    frame: { texts: textsOf({ fields }, gateway) },
    styles: gateway.look.styles,
    at: gateway.now(),
    isReady: checks.every(({ problem }) => problem === undefined),
    checks,
    histories: members.flatMap(({ base, mirrored }) => (mirrored ? [{ base, status: mirrored.history.status() }] : [])),
    caches: [
      ['documents', members.reduce((sum, { cache }) => sum + cache.documents.bytes() + cache.facts.bytes(), 0)],
      ['results', members.reduce((sum, { cache }) => sum + cache.results.bytes(), 0)],
      ['other', Object.values(gateway.caches).reduce((sum, { bytes }) => sum + bytes(), 0)],
    ],
    holds: gateway.watchdog.holds(),
    recent: gateway.recent,
    isStill,
    hasPurged: query.has('purged'),
  })
  const body = Buffer.from(html)
  return {
    status: 200,
    fields: [
      ['Content-Type', 'text/html;charset=UTF-8'],
      ['Content-Length', String(body.length)],
      ['Cache-Control', 'no-store'],
      ['X-Content-Type-Options', 'nosniff'],
      ['Vary', 'Accept-Language'],
      ...pageFields(language),
      // A link on the page stops the refresh (WCAG 2.2.1).
      ...(isStill ? [] : [['Refresh', `${REFRESH_S}; url=/`] as const]),
    ],
    body,
  }
}

/** The stylesheets of the page. */
export function fileOf(path: string, { look }: Gateway): Response | undefined {
  const file = path.startsWith('/static/') ? look.files.get(path.slice('/static/'.length)) : undefined
  if (!file) return undefined
  const { contentType, bytes } = file
  return {
    status: 200,
    fields: [
      ['Content-Type', contentType],
      ['Content-Length', String(bytes.length)],
      ['Cache-Control', 'public, max-age=31536000, immutable'],
      ['X-Content-Type-Options', 'nosniff'],
    ],
    body: bytes,
  }
}
