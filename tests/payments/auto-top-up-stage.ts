import { expect } from 'vitest'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { createAccount, type TestAccount } from './accounts.ts'
import type { StripeStage } from './stripe-stage.ts'

export const AUTO_TOP_UP = '/v1/payments/auto-top-up'
export const SAVED_CARD = '/v1/payments/saved-card'

export const RULES = { threshold_usd: 10, amount_usd: 20, monthly_ceiling_usd: 100 }

interface CardHolder extends TestAccount {
  readonly sessionId: string
}

/** Creates an account and begins to save a card at Stripe. */
export async function beginSaving(gateway: TestGateway, creditUsd = 0): Promise<CardHolder> {
  const account = await createAccount(gateway, { creditUsd })
  const { status, body } = await gateway.request('POST', SAVED_CARD, { key: account.key, body: {} })
  expect(status).toBe(201)
  return { ...account, sessionId: body.url.split('/').at(-1) }
}

/** Creates an account with a saved card, and the rules if there are any. */
export async function saveCard(
  stage: StripeStage,
  { creditUsd = 0, decline = null as string | null } = {},
): Promise<CardHolder & { readonly methodId: string }> {
  const { gateway, stripe } = stage
  const account = await beginSaving(gateway, creditUsd)
  const { status } = await stage.deliver(stripe.state.saveCard(account.sessionId, decline))
  expect(status).toBe(200)
  return { ...account, methodId: stripe.state.saved.attached.at(-1)?.['id'] }
}

export const setRules = (gateway: TestGateway, { key }: TestAccount, body: object = {}) =>
  gateway.request('PATCH', AUTO_TOP_UP, { key, body: { enabled: true, ...RULES, ...body } })

export const readAutoTopUp = async (gateway: TestGateway, { key }: TestAccount) =>
  (await gateway.request('GET', AUTO_TOP_UP, { key })).body
