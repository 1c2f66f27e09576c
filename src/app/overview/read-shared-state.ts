import type { NanoUsd } from '../../kernel/money.ts'
import type { Limits } from '../../modules/limits/limits.ts'
import type { Tasks } from '../../modules/tasks/tasks.ts'
import type { Database } from '../../storage/database.ts'

/** What only the database knows. */
export interface SharedState {
  readonly latencyMs: number
  readonly unpostedCommits: number
  readonly refusedCommits: number
  /** Accounts that owe cost or reversed payments, and how much together. */
  readonly debts: { readonly accounts: number; readonly nanoUsd: NanoUsd }
  readonly spendUsdPerSecond: number
  readonly tasks: { readonly pending: number; readonly processing: number }
  readonly queue: { readonly waiting: number; readonly inUse: number }
}

interface SharedStateOptions {
  readonly database: Pick<Database, 'query' | 'ping'>
  readonly tasks: Pick<Tasks, 'count'>
  readonly limits: Pick<Limits, 'readQueues'>
  readonly listPools: () => readonly string[]
}

const SPEND_WINDOW_MS = 20_000
const NANO = 1e9
/** More are not counted exactly. */
const COMMITS_MAX = 10_000
const DEBTORS_MAX = 10_000

/** Returns a function that reads the state of the database, for one reader that calls it every few seconds. */
export function createSharedStateReader(options: SharedStateOptions): () => Promise<SharedState> {
  const { database, tasks, limits, listPools } = options
  // Entries have rising ids, so that those of the last seconds are found without an index by time.
  let marks: { readonly atMs: number; readonly entryId: bigint }[] = []
  return async () => {
    const startedMs = performance.now()
    await database.ping()
    const latencyMs = performance.now() - startedMs
    const [oldest] = marks
    const [[row], counts, queues] = await Promise.all([
      database.query<StateRow>(STATE, [COMMITS_MAX, oldest?.entryId ?? null, DEBTORS_MAX]),
      tasks.count(),
      limits.readQueues(listPools()),
    ])
    const nowMs = performance.now()
    marks = [...marks, { atMs: nowMs, entryId: row?.last_entry ?? 0n }].filter(
      ({ atMs }, index, all) => index === all.length - 1 || atMs > nowMs - SPEND_WINDOW_MS,
    )
    const seconds = oldest === undefined ? 0 : (nowMs - oldest.atMs) / 1000
    return {
      latencyMs,
      unpostedCommits: Number(row?.unposted ?? 0),
      refusedCommits: Number(row?.refused ?? 0),
      debts: { accounts: Number(row?.debtors ?? 0), nanoUsd: row?.debt ?? 0n },
      spendUsdPerSecond: seconds === 0 ? 0 : Math.max(0, Number(row?.spent ?? 0) / NANO / seconds),
      tasks: counts,
      queue: {
        waiting: queues.reduce((sum, { queued }) => sum + queued, 0),
        inUse: queues.reduce((sum, { inUse }) => sum + inUse, 0),
      },
    }
  }
}

interface StateRow {
  readonly last_entry: bigint
  readonly unposted: bigint
  readonly refused: bigint
  readonly debtors: bigint
  readonly debt: bigint
  readonly spent: string
}

const STATE = `
  SELECT (SELECT coalesce(max(id), 0) FROM ledger_entries) AS last_entry,
    (SELECT count(*) FROM (SELECT 1 FROM charge_journal LIMIT $1) AS commits) AS unposted,
    (SELECT count(*) FROM (SELECT 1 FROM charge_journal WHERE refusal IS NOT NULL LIMIT $1) AS commits) AS refused,
    (SELECT coalesce(sum(amount_nano_usd), 0)::text FROM ledger_entries WHERE id > $2 AND book = 'revenue') AS spent,
    debtors, debt
  FROM (SELECT count(*) AS debtors, coalesce(sum(debt_nano_usd), 0)::bigint AS debt FROM (
    SELECT debt_nano_usd FROM credit_accounts WHERE debt_nano_usd > 0 LIMIT $3) AS owing) AS debts`
