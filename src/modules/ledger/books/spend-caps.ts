import { usdFromNanoUsd, type NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { recordChange, type ChangeActor } from '../../audit/audit.ts'
import type { Payer } from '../memory/memory-hold.ts'
import type { Cap } from './lend-credit.ts'

export type BudgetPeriod = 'day' | 'month'

export type BudgetLimits = readonly { readonly period: BudgetPeriod; readonly limitNanoUsd: NanoUsd }[]

export interface Budget {
  readonly period: BudgetPeriod
  readonly limitNanoUsd: NanoUsd
  readonly spentNanoUsd: NanoUsd
}

/** The caps of the key, and of the budgets that operators set for the account. */
export function capsOfPayer(payer: Payer, limits: BudgetLimits, nowMs: number): Cap[] {
  const caps: Cap[] = limits.map(({ period, limitNanoUsd }) => ({
    scope: budgetScope(payer.accountId, period, nowMs),
    limitNanoUsd,
  }))
  for (const key of [payer, payer.parent]) {
    if (key && key.limitNanoUsd !== null)
      caps.push({ scope: keyScope(key.keyId), limitNanoUsd: key.limitNanoUsd })
  }
  return caps
}

/** Whether the key has a cap of its own or of its parent. */
export function hasKeyCap({ limitNanoUsd, parent }: Pick<Payer, 'limitNanoUsd' | 'parent'>): boolean {
  return limitNanoUsd !== null || (parent?.limitNanoUsd ?? null) !== null
}

export function keyScope(keyId: string): string {
  return `key:${keyId}`
}

const DATE_LENGTH = { day: 'YYYY-MM-DD'.length, month: 'YYYY-MM'.length }

/** Days and months are in UTC. */
export function budgetScope(accountId: string, period: BudgetPeriod, nowMs: number): string {
  return `${period}:${accountId}:${new Date(nowMs).toISOString().slice(0, DATE_LENGTH[period])}`
}

export async function readBudgetLimits(queryable: Queryable, accountId: string): Promise<BudgetLimits> {
  const rows = await queryable.query<{ period: BudgetPeriod; limit_nano_usd: bigint }>(
    'SELECT period, limit_nano_usd FROM spend_budgets WHERE account_id = $1 ORDER BY period',
    [accountId],
  )
  return rows.map((row) => ({ period: row.period, limitNanoUsd: row.limit_nano_usd }))
}

export async function readBudgets(queryable: Queryable, accountId: string, nowMs: number): Promise<Budget[]> {
  const limits = await readBudgetLimits(queryable, accountId)
  const scopes = limits.map(({ period }) => budgetScope(accountId, period, nowMs))
  const rows = await queryable.query<{ scope: string; spent: bigint }>(
    'SELECT scope, spent_under(scope) AS spent FROM unnest($1::text[]) AS scope',
    [scopes],
  )
  return limits.map((limit, index) => ({
    ...limit,
    spentNanoUsd: rows.find(({ scope }) => scope === scopes[index])?.spent ?? 0n,
  }))
}

/** Sets or removes a budget, and has it compared with the thresholds of alerts. */
export async function writeBudget(
  queryable: Queryable,
  accountId: string,
  period: BudgetPeriod,
  limitNanoUsd: NanoUsd | null,
): Promise<void> {
  if (limitNanoUsd === null) {
    await queryable.query('DELETE FROM spend_budgets WHERE account_id = $1 AND period = $2', [
      accountId,
      period,
    ])
    return
  }
  await queryable.query(
    `WITH noted AS (
       INSERT INTO budget_checks (account_id, day) VALUES ($1, (now() AT TIME ZONE 'UTC')::date)
     )
     INSERT INTO spend_budgets (account_id, period, limit_nano_usd) VALUES ($1, $2, $3)
     ON CONFLICT (account_id, period) DO UPDATE SET limit_nano_usd = excluded.limit_nano_usd, updated_at = now()`,
    [accountId, period, limitNanoUsd],
  )
}

/** Writes the entry for the audit log of the account. */
export function recordBudget(
  transaction: Queryable,
  operator: ChangeActor,
  {
    accountId,
    period,
    limitNanoUsd,
  }: { accountId: string; period: BudgetPeriod; limitNanoUsd: NanoUsd | null },
): Promise<void> {
  return recordChange(transaction, {
    actor: operator,
    accountId,
    type: limitNanoUsd === null ? 'budget.deleted' : 'budget.updated',
    projectId: null,
    resourceId: wireId('organization', accountId),
    details: {
      changes_requested: {
        window: period,
        limit_usd: limitNanoUsd === null ? null : usdFromNanoUsd(limitNanoUsd),
      },
    },
  })
}
