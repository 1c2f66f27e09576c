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
  },
})
