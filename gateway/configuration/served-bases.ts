// Finds bases on this machine that no listener serves. Pure.
import { isLoopbackUrl, listenAddress, type DescribedDataspace } from './dataspace.js'
import type { Settings } from './settings.js'

export interface UnservedBase {
  readonly base: string
  readonly problem: string
  /** The flags that would serve it. */
  readonly flags: string
}

type Listening = Pick<Settings, 'https' | 'http' | 'host' | 'trustedProxy'>

/** A base may be served by a proxy or by the host of a container, if a setting says so. */
export function unservedBases(settings: Listening, dataspaces: readonly DescribedDataspace[]): readonly UnservedBase[] {
  const { host, trustedProxy } = settings
  if (
    trustedProxy.length > 0 ||
    (host !== undefined && !isLoopbackUrl(`http://${host.includes(':') ? `[${host}]` : host}/`))
  )
    // prettier-ignore
    return []
  const bases = dataspaces.flatMap(({ endUser, admin }) => [endUser.base, admin.base])
  return bases.filter(isLoopbackUrl).flatMap((base) => {
    const { protocol, port } = new URL(base)
    const isSecure = protocol === 'https:'
    const [own, wanted] = [isSecure ? settings.https : settings.http, Number(port || (isSecure ? 443 : 80))]
    if (own === wanted || own === 0) return []
    const flags = isSecure ? `--https ${wanted}` : `--http ${wanted}${settings.https === 'off' ? '' : ' --https off'}`
    const at = addressesOf(settings, dataspaces).join(' and ') || 'no port'
    return [{ base, problem: `no listener serves it: the gateway listens at ${at}`, flags }]
  })
}

/** The addresses that the gateway listens at. */
export function addressesOf(settings: Listening, dataspaces: readonly DescribedDataspace[]): readonly string[] {
  const host = settings.host ?? listenAddress(dataspaces)
  const at = (protocol: 'https' | 'http', port: number | 'off'): string[] => {
    if (port === 'off') return []
    return [host === '::' ? `${protocol} on port ${port} of every address` : `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`] // prettier-ignore
  }
  return [...at('https', settings.https), ...at('http', settings.http)]
}

/** Unserved bases on this machine are mistakes: WebIDs and documents would be created under them. */
export const wrongBases = (
  unserved: readonly UnservedBase[],
): { readonly failure: 'settings.wrong'; readonly detail: string } => ({
  failure: 'settings.wrong',
  detail: unserved
    .map(({ base, problem, flags }) => `${base}: ${problem}. Give ${flags}, or --trusted-proxy if a proxy serves it.`)
    .join('\n'),
})
