// Loads the compiled files again for each test file of a process (module customization hooks of Node.js), since the
// mutated file changes. Libraries stay loaded: starting them takes longer than most tests.
import type { ResolveHook } from 'node:module'

const DIST = new URL('../../', import.meta.url).href
let runs = 0

export const resolve: ResolveHook = async (specifier, context, next) => {
  const found = await next(specifier, context)
  const { parentURL = '' } = context
  if (!found.url.startsWith(DIST)) return found
  const isFirst = parentURL.startsWith(`${DIST}test/support/run-files.js`) && found.url.endsWith('.test.js')
  if (isFirst) runs++
  return isFirst || parentURL.includes('?mutant=') ? { ...found, url: `${found.url}?mutant=${runs}` } : found
}
