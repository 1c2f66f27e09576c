import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** The optional suite against a real cluster: `npm run test:cluster`. The first run builds the cluster, which takes long. */
export default defineConfig({
  test: {
    root: join(import.meta.dirname, '../..'),
    include: ['tests/cluster/*-suite.ts'],
    testTimeout: 180_000,
    hookTimeout: 3 * 3_600_000,
    // One cluster at a time uses the whole machine.
    fileParallelism: false,
  },
})
