import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Take half a minute and more each. Begun last, one of them would keep everybody waiting. */
const LONG_TESTS =
  /killed-|ledger-model|concurrent-spending|processes\.test|embedded-postgres|database-away|start-failures|backup-restore|shutdown|catalog-walk|upstream-failures|serve\.test/

class LongTestsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const [long, short] = [true, false].map((isLong) =>
      files.filter(({ moduleId }) => LONG_TESTS.test(moduleId) === isLong),
    )
    return [...(long ?? []), ...(await super.sort(short ?? []))]
  }
}

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'tests/**/*.test.ts'],
    globalSetup: ['./src/storage/testing/global-setup.ts'],
    sequence: { sequencer: LongTestsFirst },
    // Most tests wait for processes, connections and leases, not for a core.
    maxWorkers: 3,
    // A loaded machine is slow; who polls for what never comes fails all the same.
    expect: { poll: { timeout: 20_000 } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
