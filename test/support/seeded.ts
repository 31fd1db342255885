// The seed of fast-check's properties. `npm test` loads this file first (run-test-file.ts), so that each run tries the
// same values and failures can be repeated. TRIPLEGATE_TEST_SEED selects others.
import fc from 'fast-check'

const SEED = 20

fc.configureGlobal({ seed: Number(process.env.TRIPLEGATE_TEST_SEED ?? SEED) })
