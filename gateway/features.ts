// The table of features. To remove one, delete its row, its folder and its tests.
import { ACCESS_COMMAND } from './features/access/command.js'
import { LOGIN_LINK_COMMAND } from './features/accounts/command.js'
import { adoptCommand } from './features/adoption/command.js'
import { initCommand } from './features/adoption/init.js'
import { BACKUP_COMMAND } from './features/backup/backup-command.js'
import { RESTORE_COMMAND } from './features/backup/restore-command.js'
import { DOCTOR_COMMAND } from './features/doctor/command.js'
import { IMPORT_COMMAND } from './features/imports/command.js'
import { mirrorCommand } from './features/operators/command.js'
import { STORE_COMMAND } from './features/store/command.js'
import { TOKEN_COMMAND } from './features/tokens/command.js'
import type { Feature, GatewayFeature } from './feature.js'

/** In the order of `--help`. */
// prettier-ignore
export const FEATURES: readonly Feature[] = [
  { name: 'adoption',    commands: (endpointNames) => [initCommand(endpointNames), adoptCommand(endpointNames)] },
  { name: 'operators',   commands: (endpointNames) => [mirrorCommand(endpointNames)], load: async () => (await import('./features/operators/feature.js')).OPERATORS },
  { name: 'access',      commands: () => [ACCESS_COMMAND], load: async () => (await import('./features/access/feature.js')).ACCESS },
  { name: 'accounts',    commands: () => [LOGIN_LINK_COMMAND], load: async () => (await import('./features/accounts/feature.js')).ACCOUNTS },
  { name: 'doctor',      commands: () => [DOCTOR_COMMAND] },
  { name: 'maintenance', load: async () => (await import('./features/maintenance/feature.js')).MAINTENANCE },
  { name: 'backup',      commands: () => [BACKUP_COMMAND, RESTORE_COMMAND], load: async () => (await import('./features/backup/feature.js')).BACKUP },
  { name: 'tokens',      commands: () => [TOKEN_COMMAND], load: async () => (await import('./features/tokens/feature.js')).ACCESS_TOKENS },
  { name: 'imports',     commands: () => [IMPORT_COMMAND], load: async () => (await import('./features/imports/feature.js')).IMPORTS },
  { name: 'files',       load: async () => (await import('./features/files/feature.js')).FILES },
  { name: 'forms',       load: async () => (await import('./features/forms/feature.js')).FORMS },
  { name: 'graph-store', load: async () => (await import('./features/graph-store/feature.js')).GRAPH_STORE },
  { name: 'ontologies',  load: async () => (await import('./features/ontologies/feature.js')).ONTOLOGIES },
  { name: 'proxy',       load: async () => (await import('./features/proxy/feature.js')).PROXY },
  { name: 'store',       commands: () => [STORE_COMMAND] },
  { name: 'site',        load: async () => (await import('./features/site/feature.js')).SITE },
]

/**
 * Loads the parts that answer requests: most of the code, which other commands do not need.
 * @param without a feature to leave out, for tests
 */
export const loadFeatures = (without?: string): Promise<readonly GatewayFeature[]> =>
  Promise.all(FEATURES.flatMap(({ name, load }) => (load && name !== without ? [load()] : [])))

export const endpointNames = async (): Promise<readonly string[]> =>
  (await import('./routes.js')).makeRoutes(await loadFeatures()).endpointNames
