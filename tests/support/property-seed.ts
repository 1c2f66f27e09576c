import { configureGlobal } from 'fast-check'

/**
 * Property tests use the same cases in every run, so that results are comparable. `PARKWAY_TEST_SEED=random` searches for new
 * cases; a number repeats one search.
 */
const seed = process.env['PARKWAY_TEST_SEED'] ?? '1'
if (seed !== 'random') configureGlobal({ seed: Number(seed) })
