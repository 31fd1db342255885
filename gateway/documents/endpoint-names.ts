// Names that no graph gets when it becomes a document: those that are called like an endpoint of the gateway. Pure.
import type { DescribedApplication } from '../configuration/dataspace.js'
import { SERVICES } from '../http/dataset-target.js'

export interface EndpointNames {
  /** True for the URL of an endpoint, with a slash at its end or without. */
  has(iri: string): boolean
  /** Another name for a document that would be called so. */
  instead(url: string): string
}

/**
 * @param bases of the applications
 * @param names of endpoints below a base; one that ends with a slash has others below it
 * @param datasets the store's own URLs (http/dataset-target.ts)
 */
export function makeEndpointNames(
  bases: readonly string[],
  names: readonly string[],
  datasets: readonly string[],
): EndpointNames {
  const exact = new Set([
    ...datasets.flatMap((dataset) => SERVICES.map((service) => withoutSlash(dataset + service))),
    ...bases.flatMap((base) => names.map((name) => withoutSlash(base + name))),
  ])
  const prefixes = bases.flatMap((base) =>
    [...names.filter((name) => name.endsWith('/')), 'ns/'].map((name) => base + name),
  )
  const has = (iri: string): boolean =>
    exact.has(withoutSlash(iri)) || prefixes.some((prefix) => iri.startsWith(prefix))
  return {
    has,
    instead(url) {
      const base = bases.find((base) => url.startsWith(base)) ?? ''
      const [first, ...rest] = url.slice(base.length).split('/')
      return [`${base}${first}-graph`, ...rest].join('/')
    },
  }
}

const withoutSlash = (iri: string): string => iri.replace(/\/$/, '')

/** Those of these applications. @param names as above */
export const endpointNamesOf = (
  applications: readonly Pick<DescribedApplication, 'base' | 'origin' | 'datasetPath'>[],
  names: readonly string[],
): EndpointNames =>
  makeEndpointNames(
    applications.map(({ base }) => base),
    names,
    applications.flatMap(({ origin, datasetPath }) => (datasetPath === undefined ? [] : [origin + datasetPath])),
  )
