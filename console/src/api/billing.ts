import { queryOptions } from '@tanstack/react-query'
import { call, client, type Schemas } from './client.ts'
import { cursorPages } from './cursor-pages.ts'
import { fileUrl, jsonOf } from './list-files.ts'

export type Payment = Schemas['Payment']

export const PAYMENT_KINDS: readonly Payment['kind'][] = [
  'checkout',
  'auto_top_up',
  'promo',
  'adjustment',
  'refund',
]

export const PAYMENT_KIND_NAMES: Readonly<Record<Payment['kind'], string>> = {
  checkout: 'Top-up',
  auto_top_up: 'Automatic top-up',
  promo: 'Promo code',
  adjustment: 'Adjustment',
  refund: 'Refund',
}

/** How credit can be bought. */
export const paymentConfigQuery = queryOptions({
  queryKey: ['payments', 'config'],
  queryFn: ({ signal }) => call(() => client.GET('/v1/payments/config', { signal })),
  staleTime: 60_000,
})

/** Everything that changed the credit except for usage, newest first. */
export const paymentsQuery = () =>
  cursorPages({
    queryKey: ['payments', 'history'],
    fetchPage: async (after, signal) => {
      const query = { after, limit: 100 }
      return jsonOf(await call(() => client.GET('/v1/payments/history', { params: { query }, signal })))
    },
  })

/** Where all of it is downloaded as a file. */
export const PAYMENTS_FILE_URL = fileUrl('/v1/payments/history', {})

/** Starts a checkout. The person pays at the address in the answer and comes back to this page. */
export const startCheckout = (amountUsd: number, returnPath: string) =>
  call(() =>
    client.POST('/v1/payments/checkout', {
      body: {
        amount_usd: amountUsd,
        success_url: `${location.origin}${returnPath}?back=paid`,
        cancel_url: `${location.origin}${returnPath}?back=cancelled`,
      },
    }),
  )

export const redeemPromoCode = (code: string) =>
  call(() => client.POST('/v1/promo/redeem', { body: { code } }))
