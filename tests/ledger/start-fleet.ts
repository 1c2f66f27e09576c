import { inspect } from 'node:util'
import { postCharges, verifyLedger } from '../../src/modules/ledger/ledger.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { createTestDatabase } from '../../src/storage/testing/test-database.ts'
import { call } from '../app/call.ts'
import { createWorkplace, type Program, type Workplace } from '../app/workplace.ts'
import { modelEntry } from '../chat/start-chat-gateway.ts'
import type { OpenAiServer } from '../upstreams/openai-server.ts'

export interface Gateway {
  readonly url: string
  readonly program: Program
}

export interface Spender {
  readonly accountId: string
  readonly key: string
  readonly keyId: string
}

/** The stored charge of one request. */
export interface ChargeRow {
  /** The id that the client received. */
  readonly requestId: string
  readonly outcome: string
  readonly costNanoUsd: bigint
  readonly promotionalNanoUsd: bigint
  readonly completionTokens: number
}

/** Real gateway processes on one database, with one upstream. */
export interface Fleet {
  readonly database: Database
  readonly connectionString: string
  readonly workplace: Workplace
  /** The operator's API key. */
  readonly key: string
  /** Starts one more gateway, with one process or several processes on one port. */
  start(options?: { processes?: number; environment?: Readonly<Record<string, string>> }): Promise<Gateway>
  /** Sends a request with the operator key to any of the gateways. */
  manage(method: string, path: string, body?: unknown): Promise<{ status: number; body: Answer }>
  createSpender(account: { creditUsd: number; limitUsd?: number }): Promise<Spender>
  readCharges(accountId: string): Promise<ChargeRow[]>
  /** Returns every violation of the rules of the ledger. */
  findDifferences(): Promise<string[]>
  /** Returns the defects that the gateways have logged. */
  findDefects(): string[]
  close(): Promise<void>
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers and fail loudly on a wrong shape
type Answer = any

export interface FleetOptions {
  readonly upstream: OpenAiServer
  readonly environment?: Readonly<Record<string, string>>
  /** A database that the test restarts. Default: a new database on the server of the test run. */
  readonly connectionString?: string
}

/** No rate limits, so that clients are refused only when their credit is used up. */
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
const KEY = 'pk-dev-FleetFleetFleetFleetFleetFleetFleetFleet'
/** Costs per million tokens: $1 input, $10 output, $0.10 cached input. */
export const MODEL = 'metered'

export async function startFleet({ upstream, environment = {}, ...options }: FleetOptions): Promise<Fleet> {
  const testDatabase = options.connectionString === undefined ? await createTestDatabase() : null
  const connectionString = options.connectionString ?? testDatabase?.connectionString ?? ''
  const workplace = createWorkplace()
  const models = [modelEntry(MODEL, [{ provider: 'openai', model: MODEL }])]
  const catalogFile = workplace.write('catalog.json', JSON.stringify({ models }))
  const database = connectDatabase({ connectionString, poolSize: 2, statementTimeoutMs: 30_000 })
  const settings = {
    DATABASE_URL: connectionString,
    OPENAI_API_KEY: 'sk-upstream',
    OPENAI_BASE_URL: upstream.apiUrl,
    PARKWAY_CATALOG_FILE: catalogFile,
    PARKWAY_BOOTSTRAP_KEY: KEY,
    PARKWAY_DATABASE_POOL_SIZE: '4',
    PARKWAY_LIMITS: JSON.stringify(NO_LIMITS),
    LOG_LEVEL: 'warn',
    ...environment,
  }
  const programs: Program[] = []
  let managedUrl = ''

  const start: Fleet['start'] = async ({ processes = 1, environment = {} } = {}) => {
    const program = workplace.start(['serve', '--processes', String(processes)], {
      environment: { ...settings, ...environment },
    })
    programs.push(program)
    const { url } = await program.ready()
    managedUrl = url
    return { url, program }
  }
  const manage: Fleet['manage'] = (method, path, body) => call(method, managedUrl + path, { key: KEY, body })
  const create = async (path: string, body: object): Promise<Answer> => {
    const answer = await manage('POST', path, body)
    if (answer.status !== 201) throw new Error(`${path}: ${inspect(answer)}`)
    return answer.body
  }

  return {
    database,
    connectionString,
    workplace,
    key: KEY,
    start,
    manage,
    createSpender: async ({ creditUsd, limitUsd }) => {
      const account = await create('/v1/admin/accounts', { name: 'Ada', credit_usd: creditUsd })
      const path = `/v1/admin/accounts/${account.id}/api-keys`
      const scopes = ['inference', 'manage']
      const key = await create(path, limitUsd === undefined ? { scopes } : { scopes, limit_usd: limitUsd })
      return { accountId: account.id, key: key.key, keyId: key.id }
    },
    readCharges: (accountId) => readCharges(database, accountId),
    findDifferences: async () =>
      (await verifyLedger(database)).flatMap(({ rule, differences }) =>
        differences.map((difference) => `${rule}: ${difference}`),
      ),
    findDefects: () =>
      programs
        .flatMap(({ log }) => log)
        .filter(({ level }) => level === 'error')
        .map(({ msg, err }) => `${String(msg)}: ${inspect(err, { depth: 4 })}`),
    close: async () => {
      await workplace.clean()
      await database.close()
      await testDatabase?.drop()
    },
  }
}

/** Builds a chat request. `max_tokens` in `members` limits its cost, apart from a little for the prompt. */
export function chatOf(content: string, members: object = {}): object {
  return { model: MODEL, messages: [{ role: 'user', content }], ...members }
}

export async function readCharges(database: Database, accountId: string): Promise<ChargeRow[]> {
  await postCharges(database)
  const rows = await database.query<{
    id: string
    outcome: string
    cost: bigint
    promotional: bigint
    completion: bigint
  }>(
    `SELECT replace(id::text, '-', '') AS id, outcome, cost_nano_usd AS cost, promotional_nano_usd AS promotional,
       completion_tokens AS completion
     FROM usage_records WHERE account_id = $1 ORDER BY created_at`,
    [accountId],
  )
  return rows.map((row) => ({
    requestId: `req_${row.id}`,
    outcome: row.outcome,
    costNanoUsd: row.cost,
    promotionalNanoUsd: row.promotional,
    completionTokens: Number(row.completion),
  }))
}
