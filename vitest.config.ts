import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'tests/**/*.test.ts'],
    globalSetup: ['./src/storage/testing/global-setup.ts'],
    // Most tests wait for processes, connections and leases, not for a core.
    maxWorkers: 3,
    // A loaded machine is slow; who polls for what never comes fails all the same.
    expect: { poll: { timeout: 20_000 } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Half of what it takes to start a gateway is compiling it, which tests would else do hundreds of times.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/compiled') },
  },
})
