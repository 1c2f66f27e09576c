import type { NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'

export interface Balance {
  /** Negative while a reversal is not paid. */
  readonly balanceNanoUsd: NanoUsd
  /** The part of it that is promotional and free. */
  readonly promotionalNanoUsd: NanoUsd
  /** Held for running tasks. */
  readonly heldNanoUsd: NanoUsd
  readonly debtNanoUsd: NanoUsd
}

export async function readBalances(
  queryable: Queryable,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, Balance>> {
  const rows = await queryable.query<BalanceRow>(READ_BALANCES, [accountIds])
  return new Map(
    rows.map((row) => [
      row.account_id,
      {
        balanceNanoUsd: row.free + row.lent - row.debt,
        promotionalNanoUsd: row.promotional,
        heldNanoUsd: row.held,
        debtNanoUsd: row.debt,
      },
    ]),
  )
}

interface BalanceRow {
  readonly account_id: string
  readonly free: bigint
  readonly promotional: bigint
  readonly lent: bigint
  readonly held: bigint
  readonly debt: bigint
}

const READ_BALANCES = `
  SELECT account.account_id, account.debt_nano_usd AS debt, lots.free, lots.promotional, leases.lent, leases.held
  FROM credit_accounts account
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(remaining_nano_usd), 0)::bigint AS free,
      coalesce(sum(remaining_nano_usd) FILTER (WHERE class = 'promotional'), 0)::bigint AS promotional
    FROM credit_lots
    WHERE account_id = account.account_id AND remaining_nano_usd > 0 AND (expires_at IS NULL OR expires_at > now())
  ) lots
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(amount_nano_usd - spent_nano_usd), 0)::bigint AS lent,
      coalesce(sum(amount_nano_usd - spent_nano_usd) FILTER (WHERE hold_key IS NOT NULL), 0)::bigint AS held
    FROM credit_leases WHERE account_id = account.account_id AND lot_id IS NOT NULL
  ) leases
  WHERE account.account_id = ANY ($1::uuid[])`
