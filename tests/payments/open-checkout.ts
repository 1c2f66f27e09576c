import { expect } from 'vitest'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { createAccount, type TestAccount } from './accounts.ts'

export const CHECKOUT = '/v1/payments/checkout'

export interface OpenCheckout extends TestAccount {
  readonly id: string
  readonly url: string
}

/** Opens an unpaid test checkout for a new account. */
export async function openCheckout(
  gateway: TestGateway,
  body: Record<string, unknown> = {},
): Promise<OpenCheckout> {
  const account = await createAccount(gateway)
  const answer = await gateway.request('POST', CHECKOUT, {
    key: account.key,
    body: { amount_usd: 20, ...body },
  })
  expect(answer.status).toBe(201)
  return { ...account, id: answer.body.id, url: answer.body.checkout_url }
}

/** Submits a form of the page, like a browser without scripts. */
export function click(url: string, button: 'pay' | 'cancel'): Promise<Response> {
  return fetch(`${url}/${button}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: '',
  })
}
