import { ID_AFTER_ALL, type Page, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import {
  PAYMENT_COLUMNS,
  paymentFromRow,
  type Payment,
  type PaymentRow,
  type PaymentStatus,
} from './payment-record.ts'

/** Which payments to list. Null for all. */
export interface PaymentFilter {
  readonly accountId: string | null
  readonly kind: Payment['kind'] | null
  readonly status: PaymentStatus | null
  readonly sinceMs: number | null
  /** Not included. */
  readonly untilMs: number | null
}

/** A payment with the name of its account. */
export interface AccountPayment extends Payment {
  readonly accountName: string
}

const IS_LISTED = `($1::uuid IS NULL OR account_id = $1) AND ($2::text IS NULL OR kind = $2)
  AND ($3::text IS NULL OR payments.status = $3)
  AND ($4::timestamptz IS NULL OR payments.created_at >= $4) AND ($5::timestamptz IS NULL OR payments.created_at < $5)`

/** Lists payments of all accounts, newest first. */
export async function listAllPayments(
  queryable: Queryable,
  filter: PaymentFilter,
  { limit, afterId }: PageRequest,
): Promise<Page<AccountPayment>> {
  const values = [
    filter.accountId,
    filter.kind,
    filter.status,
    filter.sinceMs === null ? null : new Date(filter.sinceMs),
    filter.untilMs === null ? null : new Date(filter.untilMs),
  ]
  const [rows, [count]] = await Promise.all([
    queryable.query<PaymentRow & { account_name: string }>(
      `SELECT ${PAYMENT_COLUMNS}, accounts.name AS account_name
       FROM payments JOIN accounts ON accounts.id = account_id
       WHERE ${IS_LISTED} AND payments.id < $6 ORDER BY payments.id DESC LIMIT $7`,
      [...values, afterId ?? ID_AFTER_ALL, limit + 1],
    ),
    queryable.query<{ total: bigint }>(`SELECT count(*) AS total FROM payments WHERE ${IS_LISTED}`, values),
  ])
  return {
    items: rows.slice(0, limit).map((row) => ({ ...paymentFromRow(row), accountName: row.account_name })),
    total: Number(count?.total ?? 0),
    hasMore: rows.length > limit,
  }
}
