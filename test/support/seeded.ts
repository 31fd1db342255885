// The seed of the properties that fast-check tries: `npm test` loads this file first (run-test-file.ts), so that a run
// tries the same values as the run before, and what fails can be repeated. TRIPLEGATE_TEST_SEED tries others.
import fc from 'fast-check'

const SEED = 20

fc.configureGlobal({ seed: Number(process.env.TRIPLEGATE_TEST_SEED ?? SEED) })
