import { configureGlobal } from 'fast-check'

/**
 * Property tests take the same cases in every run, so a change is judged by what it changes. `PARKWAY_TEST_SEED=random` looks
 * for new cases; a number plays one search again.
 */
const seed = process.env['PARKWAY_TEST_SEED'] ?? '1'
if (seed !== 'random') configureGlobal({ seed: Number(seed) })
