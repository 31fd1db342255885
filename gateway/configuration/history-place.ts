// The place of an application's history: its repository, and its journal in the data folder. Its descriptions contain
// no secrets.
import { existsSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gitHubPlace } from '../../versioning/github/api.js'
import { isInMemory, type DescribedApplication, type VersioningRepository } from './dataspace.js'
import type { Settings } from './settings.js'

export interface HistoryPlace {
  readonly repository: Omit<VersioningRepository, 'iri'>
  /** The folder of a repository on this disk. */
  readonly folder: string | undefined
  /** The folder of journal and version index. */
  readonly journal: string
  /** A log without a history: the journal's folder has the newest content of each document, and no versions. */
  readonly isLog?: true
}

/** Undefined if the application has neither a history nor a log. */
export function historyPlaceOf(
  { base, service, versioning }: Pick<DescribedApplication, 'base' | 'service' | 'versioning'>,
  { data, log }: Pick<Settings, 'data' | 'log'>,
): HistoryPlace | undefined {
  const place = versioning ?? (service.embedded ? 'local' : 'off')
  const name = encodeURIComponent(base.replace(/^https?:\/\//, ''))
  if (place === 'off') return log === 'local' && !isInMemory(service) ? logPlace(join(data, 'log', name)) : undefined
  const own = join(data, 'history', name)
  const journal = join(own, 'journal')
  if (place === 'local') {
    const location = join(own, 'repository.git')
    return { repository: { location, branch: 'main', pathPrefix: 'graphs' }, folder: location, journal }
  }
  const { location } = place
  return { repository: place, folder: location.startsWith('file:') ? fileURLToPath(location) : undefined, journal }
}

const logPlace = (journal: string): HistoryPlace => ({
  repository: { location: journal, branch: '', pathPrefix: 'graphs' },
  ...{ folder: undefined, journal, isLog: true },
})

/** What must exist, so that a wrong setting does not create it elsewhere. `documents`: the journal may be missing. */
export type Existing = 'documents' | 'journal'

/** The missing part, and the fix. */
export function whatIsMissing({ folder, journal }: HistoryPlace, existing: Existing): string | undefined {
  if (folder !== undefined && !existsSync(join(folder, 'objects'))) {
    return `there is no repository at ${folder}. Correct --data, --history or lds:versioningRepository.`
  }
  if (existing === 'documents' || existsSync(journal)) return undefined
  return `there is no journal at ${journal}, so no gateway has used this folder. Correct --data.`
}

/** The name of the repository once it is open. */
export function repositoryName({ folder, repository, journal, isLog }: HistoryPlace): string {
  const place = isLog ? journal : folder
  if (place !== undefined) return existsSync(place) ? realpathSync(place) : resolve(place)
  const { host, owner, repo } = gitHubPlace(repository) ?? {}
  return [host, owner, repo].join('/')
}

/** One line: the place of the history, or how to turn history on. */
export function historyText(
  application: Pick<DescribedApplication, 'base' | 'kind' | 'service' | 'versioning'>,
  settings: Pick<Settings, 'data' | 'config' | 'log'>,
): string {
  const place = historyPlaceOf(application, settings)
  if (!place || place.isLog) {
    const flag = application.kind === 'admin' ? '--admin-history local' : '--history local'
    const off = `off (give ${settings.config.length > 0 ? 'it lds:versioningRepository' : flag})`
    return place ? `${off}; log in ${place.journal}` : off
  }
  const { location, branch, pathPrefix } = place.repository
  return `${location}, branch ${branch}, path prefix ${pathPrefix}`
}
