// What every page shows about the gateway and the client, and answers that are pages but not documents.
import { remembered } from '../caches.js'
import type { Field, Request, Response } from '../http/exchange.js'
import type { Gateway, Member } from '../gateway.js'
import { HTML, negotiate, RDF_NAMES } from '../http/media-type.js'
import type { Frame, SiteShown } from '../pages/frame.js'
import { textsFor } from '../pages/languages.js'
import { PAGE_VARY, pageFields } from '../pages/page-fields.js'
import type { MadePage, Texts } from '../pages/texts.js'
import type { Context } from './context.js'
import { response } from './respond.js'

export function siteShownOf({ application, dataspace }: Member, { look }: Pick<Gateway, 'look'>): SiteShown {
  const { base } = application
  const { endUser, admin } = dataspace
  const files = `${new URL(base).pathname}static/`
  return {
    base,
    home: endUser.base,
    admin: admin.base,
    title: new URL(endUser.base).host,
    styles: look.styles.map((name) => files + name),
    icon: files + look.icon,
    logo: files + look.logo,
    script: files + look.script,
  }
}

export const textsOf = (
  { fields: { 'accept-language': field } }: Pick<Request, 'fields'>,
  { look, caches }: Pick<Gateway, 'look' | 'caches'>,
): Texts => remembered(caches.languages, field ?? '', () => textsFor(field, look.languages))

export const frameOf = (context: Context, document?: string): Frame => ({
  site: siteShownOf(context, context.gateway),
  texts: textsOf(context.request, context.gateway),
  document,
  isIdentified: context.agent.webId !== undefined,
})

/** True if the client prefers a page (design 3: HTML only if it is ranked first). */
export const prefersPage = (accept: string | undefined): boolean =>
  accept !== undefined && accept.includes('html') && negotiate(accept, [...RDF_NAMES, HTML]) === HTML

/** A page made for this request. @param fields added to the usual fields; those of the same name are replaced */
export function pageAnswer(status: number, { html, language }: MadePage, fields: readonly Field[] = []): Response {
  const usual: readonly Field[] = [
    ['Content-Type', HTML.contentType],
    ['Cache-Control', 'private, no-cache'],
    ['Vary', PAGE_VARY],
    ...pageFields(language),
  ]
  const left = usual.filter(([name]) => fields.every(([other]) => other !== name))
  return response(status, [...left, ...fields], Buffer.from(html))
}
