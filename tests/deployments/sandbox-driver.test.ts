import { afterAll, beforeAll } from 'vitest'
import { createSandboxDriver } from '../../src/gpu/sandbox/sandbox-driver.ts'
import { testGpuDriver } from '../../src/gpu/testing/test-gpu-driver.ts'
import { fakeClock } from '../../src/kernel/testing/fake-clock.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { createSandboxMachines } from '../../src/storage/sandbox-machines.ts'
import { createTestDatabase, type TestDatabase } from '../../src/storage/testing/test-database.ts'

let testDatabase: TestDatabase
let database: Database
let nowMs = Date.now()

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  const { connectionString } = testDatabase
  database = connectDatabase({
    connectionString,
    poolSize: 4,
    statementTimeoutMs: 10_000,
    prepareStatements: true,
  })
})
afterAll(async () => {
  await database.close()
  await testDatabase.drop()
})

testGpuDriver('sandbox', async () => {
  await database.query('DELETE FROM sandbox_machines')
  const tier = {
    id: 'l4_24gb',
    gpuName: 'NVIDIA L4',
    gpuCount: 1,
    vramGb: 24,
    pricePerHourNanoUsd: 800_000_000n,
    region: null,
    machineCount: 2,
  }
  return {
    driver: createSandboxDriver({
      machines: createSandboxMachines(database),
      clock: fakeClock(() => nowMs),
      tiers: [tier],
    }),
    tierId: tier.id,
    settle: async () => {
      nowMs += 30_000
    },
    failing: { SANDBOX_FAILURE: 'out_of_memory' },
    measuresGpus: true,
  }
})
