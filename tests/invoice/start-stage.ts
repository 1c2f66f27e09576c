import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { hostFiles, type HostedFiles } from './files/hosted-files.ts'
import { OWN_MODELS } from './models.ts'
import type { InvoiceLine } from './vendors/invoice-line.ts'
import { startAnthropic } from './vendors/anthropic.ts'
import { startGoogle } from './vendors/google.ts'
import { startOpenAi } from './vendors/openai.ts'
import { Plans } from './vendors/planned-work.ts'
import type { Vendor } from './vendors/vendor-server.ts'
import { startVllm } from './vendors/vllm.ts'
import { removeDirectory } from '../support/remove-directory.ts'

/** How many left answers of an account the gateway reads on. Small, so that cases reach it. */
export const DRAINS_PER_ACCOUNT_MAX = 3

/** Simulated vendors and the settings of a gateway that uses them. */
interface VendorStage {
  readonly plans: Plans
  readonly files: HostedFiles
  readonly settings: Readonly<Record<string, string>>
  linesOf(caseNumber: number): InvoiceLine[]
  close(): Promise<void>
}

/** A gateway in front of them. */
export interface Stage extends VendorStage {
  readonly gateway: Pick<TestGateway, 'baseUrl' | 'key' | 'request'>
  readonly database: Database
}

export async function startVendors(): Promise<VendorStage> {
  const plans = new Plans()
  const files = await hostFiles()
  const start = [startOpenAi, startAnthropic, startGoogle, startVllm]
  const vendors: Vendor[] = await Promise.all(start.map((one) => one(plans, files)))
  const urlOf = (name: string) => vendors.find((vendor) => vendor.name === name)?.url ?? ''
  const directory = await mkdtemp(join(tmpdir(), 'parkway-invoice-'))
  const catalogFile = join(directory, 'catalog.json')
  await writeFile(catalogFile, JSON.stringify({ models: OWN_MODELS }))
  return {
    plans,
    files,
    settings: {
      OPENAI_API_KEY: 'sk-simulated',
      OPENAI_BASE_URL: `${urlOf('openai')}/v1`,
      ANTHROPIC_API_KEY: 'sk-simulated',
      ANTHROPIC_BASE_URL: `${urlOf('anthropic')}/v1`,
      GOOGLE_API_KEY: 'simulated',
      GOOGLE_BASE_URL: `${urlOf('google')}/v1beta`,
      VLLM_BASE_URL: `${urlOf('vllm')}/v1`,
      PARKWAY_CATALOG_FILE: catalogFile,
      PARKWAY_LIMITS: JSON.stringify(NO_LIMITS),
      PARKWAY_OUTBOUND_ALLOW: files.authority,
      PARKWAY_DRAINS_PER_ACCOUNT_MAX: String(DRAINS_PER_ACCOUNT_MAX),
    },
    linesOf: (caseNumber) =>
      vendors.flatMap(({ lines }) => lines.filter((line) => line.caseNumber === caseNumber)),
    close: async () => {
      await Promise.all(vendors.map((vendor) => vendor.close()))
      await files.close()
      await removeDirectory(directory)
    },
  }
}

export async function startStage(): Promise<Stage> {
  const vendors = await startVendors()
  const gateway = await startTestGateway({ settings: vendors.settings, mayAnswerAnything: true })
  const { connectionString } = gateway
  const database = connectDatabase({ connectionString, poolSize: 2, statementTimeoutMs: 30_000 })
  return {
    ...vendors,
    gateway,
    database,
    close: async () => {
      await database.close()
      await gateway.close()
      await vendors.close()
    },
  }
}

/** Requests are refused only for what they are and cost. */
const NO_LIMITS = {
  tiers: [
    {
      name: 'all',
      balance_usd: 0,
      requests_per_minute: null,
      tokens_per_minute: null,
      concurrent_requests: null,
      spend_usd_per_minute: null,
    },
  ],
}
