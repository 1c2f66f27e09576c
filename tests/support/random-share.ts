import { createRandom } from '../../src/kernel/seeded-random.ts'

const given = process.env['PARKWAY_TEST_SEED'] ?? '1'
/** The seed of all random numbers of tests. `PARKWAY_TEST_SEED` changes it. */
export const testSeed = given === 'random' ? Date.now() : Number(given)
// oxlint-disable-next-line no-console -- whoever looks for new cases must be able to repeat them
if (given === 'random') console.warn(`PARKWAY_TEST_SEED=${testSeed}`)

const random = createRandom(testSeed)

/** Returns a number from 0 up to, but not including, 1: the same series in every run, unless `PARKWAY_TEST_SEED` says otherwise. */
export const randomShare = (): number => random.next()
