import { connectDatabase } from '../../../src/storage/connection/connect-database.ts'
import { createTestDatabase } from '../../../src/storage/testing/test-database.ts'
import { createWorkplace } from '../../app/workplace.ts'
import type { TestAnswer, TestRequest } from '../../support/start-test-gateway.ts'
import { startVendors, type Stage } from '../start-stage.ts'

/** A gateway that is a process of its own and can be killed. */
export interface ProcessStage extends Stage {
  /** Kills the gateway at once, and starts it again on the same database. */
  crash(): Promise<void>
}

const KEY = 'pk-dev-InvoiceInvoiceInvoiceInvoiceInvoiceInvo'
/** After this time the credit and the tasks of a killed process are free again. */
const LEASE_MS = '2000'

export async function startProcessStage(): Promise<ProcessStage> {
  const vendors = await startVendors()
  const testDatabase = await createTestDatabase()
  const { connectionString } = testDatabase
  const workplace = createWorkplace()
  const environment = {
    ...vendors.settings,
    DATABASE_URL: connectionString,
    PARKWAY_DATA_DIR: workplace.dataDir,
    PARKWAY_BOOTSTRAP_KEY: KEY,
    PARKWAY_DATABASE_POOL_SIZE: '8',
    PARKWAY_LEASE_MS: LEASE_MS,
    LOG_LEVEL: 'error',
  }
  const start = async () => {
    const program = workplace.start(['serve'], { environment })
    return { program, url: (await program.ready()).url }
  }
  let current = await start()
  const database = connectDatabase({ connectionString, poolSize: 2, statementTimeoutMs: 30_000 })
  const gateway: Stage['gateway'] = {
    key: KEY,
    get baseUrl() {
      return current.url
    },
    request: (method, path, request) => send(current.url, method, path, request),
  }
  return {
    ...vendors,
    gateway,
    database,
    crash: async () => {
      current.program.kill('SIGKILL')
      await current.program.exited
      current = await start()
    },
    close: async () => {
      await workplace.clean()
      await database.close()
      await vendors.close()
      await testDatabase.drop()
    },
  }
}

async function send(
  url: string,
  method: string,
  path: string,
  { key = KEY, body, headers = {} }: TestRequest = {},
): Promise<TestAnswer> {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}
