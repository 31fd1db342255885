// In charge of where the history of an application goes, and of saying so to people, without secrets. Pure.
import { join } from 'node:path'
import type { Application } from './dataspace.js'
import type { Settings } from './settings.js'

/** Of an application's own in the data folder: its journal, and its repository where that is local. */
export const historyFolder = (data: string, base: string): string =>
  join(data, 'history', encodeURIComponent(base.replace(/^https?:\/\//, '')))

/** One line: what it is, or that there is none and how it comes to be. */
export function historyText(
  { base, kind, service, versioning }: Pick<Application, 'base' | 'kind' | 'service' | 'versioning'>,
  { data, config }: Pick<Settings, 'data' | 'config'>,
): string {
  const place = versioning ?? (service.embedded ? 'local' : 'off')
  if (place === 'off') {
    const flag = kind === 'admin' ? '--admin-history local' : '--history local'
    return `off (give ${config.length > 0 ? 'it lds:versioningRepository' : flag})`
  }
  const { location, branch, pathPrefix } =
    place === 'local'
      ? { location: join(historyFolder(data, base), 'repository.git'), branch: 'main', pathPrefix: 'graphs' }
      : place
  return `${location}, branch ${branch}, path prefix ${pathPrefix}`
}
