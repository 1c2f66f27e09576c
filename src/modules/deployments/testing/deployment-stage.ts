import type { GpuDriver, LaunchOrder, Observation } from '../../../gpu/gpu-driver.ts'
import { createGpuRegistry } from '../../../gpu/registry.ts'
import { createSandboxDriver } from '../../../gpu/sandbox/sandbox-driver.ts'
import { HubError } from '../../../hub/hub-error.ts'
import { createId } from '../../../kernel/identifiers.ts'
import { silentLogger } from '../../../kernel/logger.ts'
import { createSealer, type Sealer } from '../../../kernel/seal-text.ts'
import { fakeClock } from '../../../kernel/testing/fake-clock.ts'
import { createBorrower } from '../../../storage/borrowing/borrower.ts'
import type { Provider } from '../../../providers/provider.ts'
import { connectDatabase } from '../../../storage/connection/connect-database.ts'
import type { Database } from '../../../storage/database.ts'
import { createMessageBus } from '../../../storage/bus/message-bus.ts'
import { createSandboxMachines } from '../../../storage/sandbox-machines.ts'
import { createTestDatabase } from '../../../storage/testing/test-database.ts'
import type { Caller } from '../../keys/keys.ts'
import { createLedger, reclaimLeases, verifyLedger, type Ledger } from '../../ledger/ledger.ts'
import { createDeployments, createReconciler, type Deployments, type Reconciler } from '../deployments.ts'
import { MortalProcess } from './mortal-process.ts'

/** Deployments on simulated GPUs, with a clock that the test controls. */
export interface DeploymentStage {
  readonly database: Database
  readonly deployments: Deployments
  readonly ledger: Ledger
  /** The launch orders that the driver received. */
  readonly launched: readonly LaunchOrder[]
  readonly sealer: Sealer
  nowMs(): number
  /** Starts a simulated process with its own reconciler and owner id. */
  startProcess(process?: MortalProcess): Reconciler
  /** Advances the clock while this process looks at each deployment when it is due. */
  pass(reconciler: Pick<Reconciler, 'reconcileDue'>, durationMs: number): Promise<void>
  /** Advances the clock without any look. */
  skip(durationMs: number): void
  /** Starts processes one after the other. Each is killed after the given number of points; the last one is not killed. */
  startMortals(deaths: readonly number[]): Pick<Reconciler, 'reconcileDue'>
  createCaller(creditUsd: number, key?: Partial<Caller>): Promise<Caller>
  /** Returns the number of machines in use at the simulated driver. */
  countMachines(): Promise<number>
  /** Returns the inconsistencies of the ledger. */
  findDifferences(): Promise<string[]>
  close(): Promise<void>
}

export const SLICE_SECONDS = 60
const LEASE_MS = 30_000
const DOLLAR = 1_000_000_000
const CREDIT_LEASE_MS = 600_000

const refuseHub = () => Promise.reject(new HubError('unavailable', 'There is no hub.'))

interface StageOptions {
  /** Called for each statement of the deployments module outside transactions. */
  readonly onQuery?: (sql: string) => void
  /** The provider that answers instead of engines. */
  readonly engine?: Provider
  /** Changes what the driver reports, as if an instance had lost its GPU. */
  readonly alterObservation?: (seen: Observation, nowMs: number) => Observation
}

export async function createDeploymentStage({
  onQuery = () => {},
  engine = { id: 'sandbox', isConfigured: true },
  alterObservation = (seen) => seen,
}: StageOptions = {}): Promise<DeploymentStage> {
  const testDatabase = await createTestDatabase()
  const { connectionString } = testDatabase
  const database = connectDatabase({
    connectionString,
    poolSize: 8,
    statementTimeoutMs: 10_000,
    prepareStatements: true,
  })
  let nowMs = Date.now()
  const logger = silentLogger
  const sealer = createSealer('of this stage')
  const clock = fakeClock(() => nowMs)
  const messageBus = await createMessageBus({ connectionString, logger })
  const borrower = await createBorrower({
    database,
    logger,
    leaseMs: CREDIT_LEASE_MS,
    reclaimers: [reclaimLeases],
  })
  const ledger = createLedger({
    database,
    messageBus,
    borrower,
    clock,
    logger,
    commitWaitMs: 10_000,
    observer: { committed: () => {}, failing: () => {}, lost: () => {} },
  })
  const sandbox = createSandboxDriver({ machines: createSandboxMachines(database), clock })
  const launched: LaunchOrder[] = []
  const driver: GpuDriver = {
    ...sandbox,
    launch: (order) => {
      launched.push(order)
      return sandbox.launch(order)
    },
    observe: async (instanceId) => alterObservation(await sandbox.observe(instanceId), nowMs),
  }
  const gpus = createGpuRegistry({ drivers: [driver], onFailure: () => {} })
  const deployments = await createDeployments({
    database: {
      query: (sql, values) => {
        onQuery(sql)
        return database.query(sql, values)
      },
      transaction: (work) => database.transaction(work),
      keepConnection: () => database.keepConnection(),
      ping: () => database.ping(),
      close: () => database.close(),
    },
    messageBus,
    clock,
    logger,
    gpus,
    hub: { readModel: refuseHub, listFiles: refuseHub },
    cacheOf: () => null,
    hubUseOf: () => 'never',
    sealer,
    mayUseHubToken: async () => false,
    ledger,
    callerOf: () => Promise.reject(new Error('only the key that made a deployment asks it')),
    isOffered: () => true,
    connect: () => engine,
    acquireSlot: () => ({ release: () => {} }),
    scrape: async () => null,
    drainMs: 30_000,
    sliceSeconds: SLICE_SECONDS,
    wakeMsMax: 1_000,
  })

  const startProcess = (mortal = new MortalProcess()): Reconciler => {
    const owner = createId()
    return createReconciler({
      database: mortal.wrapDatabase(database),
      messageBus,
      clock,
      gpus: createGpuRegistry({ drivers: [mortal.wrapDriver(driver)], onFailure: () => {} }),
      logger,
      billing: { ledger, writer: () => borrower.writer, sliceSeconds: SLICE_SECONDS },
      announce: async () => {},
      owner: () => owner,
      sealer,
      leaseMs: LEASE_MS,
      paces: { changingMs: 2_000, runningMs: 30_000, startMsMax: 600_000, drainMs: 30_000, retryMs: 15_000 },
    })
  }

  const pass: DeploymentStage['pass'] = async (reconciler, durationMs) => {
    const endMs = nowMs + durationMs
    for (;;) {
      await reconciler.reconcileDue()
      const [row] = await database.query<{ due: Date | null }>(
        `SELECT min(greatest(next_look_at, lease_until)) AS due FROM deployments WHERE next_look_at IS NOT NULL`,
      )
      const dueMs = row?.due?.getTime() ?? Infinity
      if (dueMs > endMs) break
      // A deployment that is still due now was just looked at, so advance by at least a millisecond.
      nowMs = Math.max(nowMs + 1, dueMs)
    }
    nowMs = Math.max(nowMs, endMs)
  }

  return {
    database,
    deployments,
    ledger,
    launched,
    sealer,
    nowMs: () => nowMs,
    startProcess,
    pass,
    skip: (durationMs) => {
      nowMs += durationMs
    },
    startMortals: (deaths) => {
      const left = [...deaths]
      let mortal = new MortalProcess(left.shift())
      let current = startProcess(mortal)
      return {
        reconcileDue: async () => {
          await current.reconcileDue()
          if (mortal.isDead) {
            mortal = new MortalProcess(left.shift())
            current = startProcess(mortal)
          }
        },
      }
    },
    createCaller: async (creditUsd, key = {}) => {
      const accountId = createId()
      await database.query(`INSERT INTO accounts (id, name) VALUES ($1, 'owner')`, [accountId])
      await database.transaction((transaction) =>
        ledger.grant(transaction, {
          key: `test:${accountId}`,
          accountId,
          amountNanoUsd: BigInt(Math.round(creditUsd * DOLLAR)),
          class: 'paid',
          book: 'cash',
          reason: 'test',
        }),
      )
      return {
        accountId,
        keyId: createId(),
        environment: 'test',
        scopes: new Set(['inference']),
        projectId: null,
        groupIds: [],
        permissions: new Set(),
        allowedModels: null,
        requestsPerMinute: null,
        limitNanoUsd: null,
        ...key,
      }
    },
    countMachines: async () => {
      const rows = await database.query(
        `SELECT FROM sandbox_machines WHERE (released_at IS NULL OR released_at > $1) AND failure IS DISTINCT FROM 'capacity_exhausted'`,
        [new Date(nowMs)],
      )
      return rows.length
    },
    findDifferences: async () =>
      (await verifyLedger(database)).flatMap(({ rule, differences }) =>
        differences.map((difference) => `${rule}: ${difference}`),
      ),
    close: async () => {
      await deployments.close()
      await ledger.close()
      await borrower.close()
      await messageBus.close()
      await database.close()
      await testDatabase.drop()
    },
  }
}

export const ORDER = {
  name: null,
  huggingfaceId: 'Qwen/Qwen3-8B',
  gpuTier: 'l40s_48gb',
  quantization: 'auto',
  maxModelLen: null,
  revision: null,
  hubToken: null,
  env: {},
  idleTimeoutMinutes: 0,
  budgetLimitNanoUsd: null,
  pricePerHourMaxNanoUsd: null,
} as const

/** The price of an hour of the tier in `ORDER`. */
export const HOUR_NANO_USD = 1_950_000_000n
