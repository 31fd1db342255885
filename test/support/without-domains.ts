// Removes the domains that tap gives each test: `npm test` loads this file first (run-test-file.ts). A domain finds the
// test of an uncaught error by a hook on every promise, which costs more than most tests. Without domains such an error
// ends the process, as it ends a gateway; tap still catches errors that a test itself throws.
import hooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

hooks.createHook = () => {
  const hook = { enable: () => hook, disable: () => hook }
  return hook
}
syncBuiltinESMExports()
