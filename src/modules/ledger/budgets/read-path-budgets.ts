import type { Queryable } from '../../../storage/database.ts'
import type { Cap } from '../books/lend-credit.ts'
import { readBudgetLimits } from '../books/spend-caps.ts'
import type { Charged, Payer } from '../memory/memory-hold.ts'
import type { WindowPeriod } from './budget-window.ts'
import { PathBudgets, type ChangedBudget, type PathBudget } from './path-budgets.ts'
import { subjectsOf } from './subject.ts'

/** Reads the budgets of an account that changed after one version. The second version is a hint: if it is the same, nothing is read. */
export async function readChangedBudgets(
  queryable: Queryable,
  accountId: string,
  { after, upTo }: { after: bigint; upTo: bigint },
): Promise<ChangedBudget[]> {
  if (upTo <= after) return []
  const rows = await queryable.query<PathBudgetRow>(
    `SELECT ${COLUMNS} FROM budgets WHERE account_id = $1 AND version > $2 ORDER BY version`,
    [accountId, after],
  )
  return rows.map(changedFromRow)
}

/** Reads all caps of one request, for work that is charged in a transaction. */
export async function readCaps(
  queryable: Queryable,
  payer: Payer,
  charge: Charged & { readonly atMs: number },
): Promise<readonly Cap[]> {
  const { accountId } = payer
  const limits = await readBudgetLimits(queryable, accountId)
  const rows = await queryable.query<PathBudgetRow>(
    `SELECT ${COLUMNS} FROM budgets WHERE account_id = $1 AND subject = ANY ($2::text[]) AND deleted_at IS NULL`,
    [accountId, [...subjectsOf(payer, charge.labels)]],
  )
  return PathBudgets.none.with(limits, rows.map(changedFromRow), 0n).capsOf(payer, charge, charge.atMs)
}

interface PathBudgetRow {
  readonly id: string
  readonly version: bigint
  readonly applies: boolean
  readonly subject: string
  readonly models: string[] | null
  readonly period: WindowPeriod
  readonly limit_nano_usd: bigint
  readonly raise_nano_usd: bigint | null
  readonly raise_until: Date | null
}

const COLUMNS = `id, version, is_hard AND is_counted AND deleted_at IS NULL AS applies, subject, models, period, limit_nano_usd,
  raise_nano_usd, raise_until`

function changedFromRow(row: PathBudgetRow): ChangedBudget {
  const { id, version, raise_nano_usd: raise, raise_until: until } = row
  if (!row.applies) return { id, version, budget: null }
  const budget: PathBudget = {
    id,
    subject: row.subject,
    models: row.models === null ? null : new Set(row.models),
    period: row.period,
    limitNanoUsd: row.limit_nano_usd,
    raise: raise === null || until === null ? null : { amountNanoUsd: raise, untilMs: until.getTime() },
  }
  return { id, version, budget }
}
