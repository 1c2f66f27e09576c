import { call, client, type Schemas } from './client.ts'
import { cursorPages } from './cursor-pages.ts'
import { fileUrl, jsonOf } from './list-files.ts'

/** A payment of any account, for operators. */
export type AccountPayment = Schemas['AccountPayment']

export interface PaymentFilters {
  readonly account?: string | undefined
  readonly kind?: AccountPayment['kind'] | undefined
  readonly status?: AccountPayment['status'] | undefined
  /** Days of UTC, both included: `2026-11-17`. */
  readonly since?: string | undefined
  readonly until?: string | undefined
}

export const PAYMENT_STATUSES: readonly AccountPayment['status'][] = [
  'pending',
  'processing',
  'completed',
  'failed',
  'expired',
  'cancelled',
  'refunded',
  'partially_refunded',
  'disputed',
  'returned',
]

/** What an id of an account looks like. */
export const ACCOUNT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export const allPaymentsQuery = (filters: PaymentFilters) =>
  cursorPages({
    queryKey: ['all-payments', filters],
    fetchPage: async (after, signal) => {
      const query = { ...queryOf(filters), after, limit: 100 }
      return jsonOf(await call(() => client.GET('/v1/admin/payments', { params: { query }, signal })))
    },
  })

/** Where all payments that match are downloaded as a file. */
export function allPaymentsFileUrl(filters: PaymentFilters): string {
  return fileUrl('/v1/admin/payments', queryOf(filters))
}

/** Returns the rest of a payment at the provider and takes its credit back. The account reads the reason. */
export const refundPayment = (id: string, reason: string, idempotencyKey: string) =>
  call(() =>
    client.POST('/v1/admin/payments/{id}/refund', {
      params: { path: { id }, header: { 'Idempotency-Key': idempotencyKey } },
      body: reason === '' ? {} : { reason },
    }),
  )

const DAY_MS = 86_400_000

function queryOf({ account, kind, status, since, until }: PaymentFilters) {
  return {
    account_id: account,
    kind,
    status,
    since: since && `${since}T00:00:00Z`,
    // The API does not include the end.
    until: until && new Date(Date.parse(`${until}T00:00:00Z`) + DAY_MS).toISOString(),
  }
}
