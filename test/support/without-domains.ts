// Taking away the domains that tap gives each test: `npm test` loads this file first (run-test-file.ts). A domain finds
// the test of an error that nothing has caught, by a hook on every promise, and costs more than most tests. Without it
// such an error ends the process, as it ends a gateway; what a test throws itself, tap catches without a domain.
import hooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

hooks.createHook = () => {
  const hook = { enable: () => hook, disable: () => hook }
  return hook
}
syncBuiltinESMExports()
