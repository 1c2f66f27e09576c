import { queryOptions } from '@tanstack/react-query'
import { call, client, type Schemas } from './client.ts'

export type AutoTopUp = Schemas['AutoTopUp']

/** When the saved card is charged, and what it was charged in this month. */
export const autoTopUpQuery = queryOptions({
  queryKey: ['auto-top-up'],
  queryFn: ({ signal }) => call(() => client.GET('/v1/payments/auto-top-up', { signal })),
})

interface AutoTopUpChanges {
  readonly enabled?: boolean
  readonly threshold_usd?: number
  readonly amount_usd?: number
  readonly monthly_ceiling_usd?: number
}

export const changeAutoTopUp = (body: AutoTopUpChanges) =>
  call(() => client.PATCH('/v1/payments/auto-top-up', { body }))

/** Begins to save a card. The person enters it at the address in the answer and comes back to this page. */
export const startSavingCard = (returnPath: string) =>
  call(() =>
    client.POST('/v1/payments/saved-card', {
      body: {
        success_url: `${location.origin}${returnPath}?back=saved`,
        cancel_url: `${location.origin}${returnPath}`,
      },
    }),
  )

export const removeCard = () => call(() => client.DELETE('/v1/payments/saved-card'))
