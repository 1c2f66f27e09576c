import { Batches } from '../../../kernel/batches.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { Database, Queryable } from '../../../storage/database.ts'
import {
  borrowCredit,
  borrowTogether,
  type BorrowedCredit,
  type Borrowing,
  type BorrowRequest,
} from '../books/borrow-credit.ts'
import {
  ASKED_ACCOUNTS,
  askedColumns,
  CREDIT_STATE,
  creditStateFromRow,
  type CreditState,
  type CreditStateRow,
} from '../books/lock-account.ts'
import type { SpendingOrder } from './borrowed-balance.ts'
import type { CreditClass } from '../books/move-credit.ts'
import type { BudgetLimits, BudgetPeriod } from '../books/spend-caps.ts'

/** What a process must know about an account before a request may spend. */
export interface AccountView {
  /** The budgets that operators set. */
  readonly limits: BudgetLimits
  /** Rises with each change of the account's other budgets. */
  readonly budgetsVersion: bigint
  /** Without the leases of the asking process. */
  readonly state: CreditState
  /** The free lot that is spent first. */
  readonly nextLot: SpendingOrder | null
}

const ASKED_AT_ONCE_MAX = 200

/** Batches reads and borrow requests of many accounts that arrive at the same time. */
export class AccountBatcher {
  readonly #database: Database
  readonly #looks: Batches<Borrowing, AccountView>
  readonly #loans: Batches<BorrowRequest, BorrowedCredit | null>

  constructor(database: Database) {
    this.#database = database
    this.#looks = new Batches((asked) => viewAccounts(database, asked), ASKED_AT_ONCE_MAX)
    // A process that was declared dead gets a new id, so the last request has the newest one.
    this.#loans = new Batches(
      (requests) => borrowTogether(database, requests.at(-1)?.borrowerId ?? '', requests),
      ASKED_AT_ONCE_MAX,
    )
  }

  /** Reads the state after this call, never an older one. */
  view(borrowing: Borrowing): Promise<AccountView> {
    return this.#looks.add(borrowing)
  }

  /** Does not wait for locks of other accounts in the batch. */
  async borrow(request: BorrowRequest): Promise<BorrowedCredit> {
    return (await this.#loans.add(request)) ?? borrowCredit(this.#database, request)
  }
}

async function viewAccounts(queryable: Queryable, asked: readonly Borrowing[]): Promise<AccountView[]> {
  const rows = await queryable.query<ViewRow>(VIEW, askedColumns(asked))
  return rows.map((row) => ({
    state: creditStateFromRow(row),
    nextLot: row.next_class === null ? null : { class: row.next_class, expiresAtMs: row.next_ms },
    budgetsVersion: row.budgets_version,
    limits: row.budgets.map(({ period, limit }): { period: BudgetPeriod; limitNanoUsd: NanoUsd } => ({
      period,
      limitNanoUsd: BigInt(limit),
    })),
  }))
}

interface ViewRow extends CreditStateRow {
  readonly budgets: BudgetJson
  readonly budgets_version: bigint
  readonly next_class: CreditClass | null
  readonly next_ms: number | null
}

type BudgetJson = readonly { readonly period: BudgetPeriod; readonly limit: string }[]

// Amounts as text: in JSON they would be numbers, and those are not exact.
const VIEW = `
  SELECT ${CREDIT_STATE}, next.class AS next_class, next.ms AS next_ms, coalesce((
      SELECT json_agg(json_build_object('period', period, 'limit', limit_nano_usd::text) ORDER BY period)
      FROM spend_budgets WHERE account_id = asked.account_id), '[]') AS budgets,
    coalesce((SELECT budgets_version FROM credit_accounts WHERE account_id = asked.account_id), 0) AS budgets_version
  FROM ${ASKED_ACCOUNTS} LEFT JOIN LATERAL (
    SELECT class, (extract(epoch FROM expires_at) * 1000)::float8 AS ms FROM credit_lots
    WHERE account_id = asked.account_id AND remaining_nano_usd > 0 AND (expires_at IS NULL OR expires_at > now())
    ORDER BY class = 'paid', expires_at NULLS LAST LIMIT 1
  ) AS next ON true ORDER BY number`
