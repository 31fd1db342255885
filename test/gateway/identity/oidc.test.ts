// Log-in, tokens and delegation against a real provider over TLS. The suite runs in a process that trusts its
// certificate.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeServerCertificate } from '../../../gateway/agents/make-certificate.js'

if (process.env.TRIPLEGATE_TEST_PROVIDER) await import('./oidc-suite.js')
else {
  const folder = mkdtempSync(join(tmpdir(), 'triplegate-oidc-'))
  const file = join(folder, 'provider.pem')
  writeFileSync(file, await makeServerCertificate(['localhost'], Date.now()), { mode: 0o600 })
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: file, TRIPLEGATE_TEST_PROVIDER: file }
  const { status } = spawnSync(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url)], {
    stdio: 'inherit',
    env,
  })
  rmSync(folder, { recursive: true, force: true })
  process.exitCode = status ?? 1
}
