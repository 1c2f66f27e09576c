import { ID_AFTER_ALL, openPage, type OpenPage, type Page, type PageRequest } from '../../kernel/page.ts'
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

export const NO_FILTER: PaymentFilter = {
  accountId: null,
  kind: null,
  status: null,
  sinceMs: null,
  untilMs: null,
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
  const values = valuesOf(filter)
  const [page, [count]] = await Promise.all([
    readPage(queryable, values, { limit, afterId }),
    queryable.query<{ total: bigint }>(`SELECT count(*) AS total FROM payments WHERE ${IS_LISTED}`, values),
  ])
  return { ...page, total: Number(count?.total ?? 0) }
}

const WALKED_AT_ONCE = 1_000

/** Walks over all of them, some at a time, without counting them. */
export async function* walkAllPayments(
  queryable: Queryable,
  filter: PaymentFilter,
): AsyncGenerator<readonly AccountPayment[], void> {
  const values = valuesOf(filter)
  let afterId: string | null = null
  for (;;) {
    const page: OpenPage<AccountPayment> = await readPage(queryable, values, {
      limit: WALKED_AT_ONCE,
      afterId,
    })
    yield page.items
    afterId = page.items.at(-1)?.id ?? null
    if (!page.hasMore || afterId === null) return
  }
}

async function readPage(
  queryable: Queryable,
  values: readonly unknown[],
  { limit, afterId }: PageRequest,
): Promise<OpenPage<AccountPayment>> {
  const rows = await queryable.query<PaymentRow & { account_name: string }>(
    `SELECT ${PAYMENT_COLUMNS}, accounts.name AS account_name
     FROM payments JOIN accounts ON accounts.id = account_id
     WHERE ${IS_LISTED} AND payments.id < $6 ORDER BY payments.id DESC LIMIT $7`,
    [...values, afterId ?? ID_AFTER_ALL, limit + 1],
  )
  return openPage(
    rows.map((row) => ({ ...paymentFromRow(row), accountName: row.account_name })),
    limit,
  )
}

function valuesOf(filter: PaymentFilter): unknown[] {
  return [
    filter.accountId,
    filter.kind,
    filter.status,
    filter.sinceMs === null ? null : new Date(filter.sinceMs),
    filter.untilMs === null ? null : new Date(filter.untilMs),
  ]
}
