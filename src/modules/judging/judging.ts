export { bootstrapInterval, type Interval } from './bootstrap-interval.ts'
export { percentile } from './percentile.ts'
export { createRandom, shuffle, type SeededRandom } from './seeded-random.ts'
