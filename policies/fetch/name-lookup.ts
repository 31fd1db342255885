// Resolves hosts named by clients and documents: by the hosts file, otherwise by DNS through a separate resolver. The
// system's resolver has four threads per process: names that never resolve would block the look-up of the store.
import { Resolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'

/** All addresses of a host name; rejects when it has none. */
export type Lookup = (host: string) => Promise<readonly { readonly address: string }[]>

export interface NameLookupSettings {
  /** `address:port` of the name servers. Default: those of the system. */
  readonly servers?: readonly string[]
  /** The content of a hosts file. Default: the system's current one. */
  readonly hosts?: string
  /** The most concurrent look-ups. Further ones fail at once. */
  readonly most?: number
}

/** Milliseconds for the first attempt at a name server, and the number of attempts. */
const TRY = { timeout: 1_500, tries: 2 } as const
const MOST = 128
/** The most addresses per name. Others are neither checked nor used. */
const ADDRESSES = 16

export function makeNameLookup({ servers, hosts = hostsFile(), most = MOST }: NameLookupSettings = {}): Lookup {
  const resolver = new Resolver(TRY)
  if (servers) resolver.setServers(servers)
  const listed = readHosts(hosts)
  let underWay = 0
  return async (host) => {
    const name = host.toLowerCase()
    const here = listed.get(name) ?? (isLocalhost(name) ? ['127.0.0.1', '::1'] : undefined)
    if (here) return here.map((address) => ({ address }))
    if (underWay >= most) throw new Error('too many names are being looked up')
    underWay++
    try {
      // Either record may be missing. A name without both rejects.
      const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
      const addresses = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
      if (addresses.length === 0) throw (found[0] as PromiseRejectedResult).reason
      return addresses.slice(0, ADDRESSES).map((address) => ({ address }))
    } finally {
      underWay--
    }
  }
}

/** RFC 6761 §6.3: name servers are never asked for these names. */
const isLocalhost = (name: string): boolean => name === 'localhost' || name.endsWith('.localhost')

function hostsFile(): string {
  const windows = `${process.env.SystemRoot ?? 'C:\\Windows'}\\System32\\drivers\\etc\\hosts`
  try {
    return readFileSync(process.platform === 'win32' ? windows : '/etc/hosts', 'utf8')
  } catch {
    return ''
  }
}

function readHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const listed = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (!address || isIP(address) === 0) continue
    for (const name of names.map((one) => one.toLowerCase())) {
      listed.set(name, [...(listed.get(name) ?? []), address])
    }
  }
  return listed
}
