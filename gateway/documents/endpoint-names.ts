// Names of endpoints. A graph that becomes a document must not get one of them. Pure.
import type { DescribedApplication } from '../configuration/dataspace.js'
import { SERVICES } from '../http/dataset-target.js'

export interface EndpointNames {
  /** True for the URL of an endpoint, with or without a slash at its end. */
  has(iri: string): boolean
  /** A replacement name for a document that would have the name of an endpoint. */
  instead(url: string): string
}

/**
 * @param bases the bases of the applications
 * @param names the endpoints below a base; a name that ends with a slash includes everything below it
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

/** The endpoint names of these applications. @param names as above */
export const endpointNamesOf = (
  applications: readonly Pick<DescribedApplication, 'base' | 'origin' | 'datasetPath'>[],
  names: readonly string[],
): EndpointNames =>
  makeEndpointNames(
    applications.map(({ base }) => base),
    names,
    applications.flatMap(({ origin, datasetPath }) => (datasetPath === undefined ? [] : [origin + datasetPath])),
  )
