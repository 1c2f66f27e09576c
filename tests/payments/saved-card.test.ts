import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { createAccount } from './accounts.ts'
import { AUTO_TOP_UP, beginSaving, readAutoTopUp, SAVED_CARD, setRules } from './auto-top-up-stage.ts'
import { startStripeStage, type StripeStage } from './stripe-stage.ts'

let stage: StripeStage
beforeAll(async () => {
  stage = await startStripeStage()
})
afterAll(() => stage.close())

describe('a saved card', () => {
  test('is removed at Stripe, and a webhook that comes again does not bring it back', async () => {
    const account = await beginSaving(stage.gateway)
    const saved = stage.stripe.state.saveCard(account.sessionId)
    await stage.deliver(saved)
    const methodId = stage.stripe.state.saved.attached.at(-1)?.['id']
    await setRules(stage.gateway, account, { enabled: false })
    const { status, body } = await stage.gateway.request('DELETE', SAVED_CARD, { key: account.key })
    expect([status, body.card, body.enabled]).toEqual([200, null, false])
    expect((await stage.deliver(saved)).status).toBe(200)
    expect(await readAutoTopUp(stage.gateway, account)).toMatchObject({ card: null })
    await eventually(() =>
      expect(stage.stripe.state.saved.attached.map(({ id }) => id)).not.toContain(methodId),
    )
    expect((await setRules(stage.gateway, account)).status).toBe(409)
  })

  test('belongs to the account that began to save it, whatever a report says', async () => {
    const [account, stranger] = [await beginSaving(stage.gateway), await beginSaving(stage.gateway)]
    const session = stage.stripe.state.sessions.get(stranger.sessionId) ?? {}
    session['metadata'] = stage.stripe.state.sessions.get(account.sessionId)?.['metadata']
    await stage.deliver(stage.stripe.state.saveCard(stranger.sessionId))
    for (const each of [account, stranger])
      expect(await readAutoTopUp(stage.gateway, each)).toMatchObject({ card: null })
  })

  test('is found by the page that people return to', async () => {
    const account = await beginSaving(stage.gateway)
    stage.stripe.state.saveCard(account.sessionId)
    const answer = await fetch(
      `${stage.gateway.baseUrl}/checkout/stripe/return?session_id=${account.sessionId}`,
    )
    expect(await answer.text()).toContain('Card saved')
    expect(await readAutoTopUp(stage.gateway, account)).toMatchObject({ card: { last4: '4242' } })
  })

  test('is asked for once at Stripe while many read', async () => {
    const account = await beginSaving(stage.gateway)
    stage.stripe.requests.length = 0
    await Promise.all(Array.from({ length: 5 }, () => readAutoTopUp(stage.gateway, account)))
    const asked = stage.stripe.requests.filter(({ path }) => path.endsWith(account.sessionId))
    expect(asked).toHaveLength(1)
  })

  test('can be begun twenty times a day', async () => {
    const account = await beginSaving(stage.gateway)
    await stage.database.query(
      `INSERT INTO payment_method_setups (id, account_id, provider, base_url, actor, status, expires_at, created_at)
       SELECT gen_random_uuid(), $1, 'stripe', '', '{}', 'expired', now(), now() FROM generate_series(1, 19)`,
      [account.accountId],
    )
    const { status } = await stage.gateway.request('POST', SAVED_CARD, { key: account.key, body: {} })
    expect(status).toBe(429)
  })
})

describe('the rules are refused', () => {
  test.each([
    ['with a threshold above the amount', { threshold_usd: 20.01 }, 'amount_usd'],
    ['with a ceiling below the amount', { monthly_ceiling_usd: 19.99 }, 'monthly_ceiling_usd'],
    ['with a threshold of nothing', { threshold_usd: 0 }, 'threshold_usd'],
    ['with parts of cents', { amount_usd: 20.001 }, 'amount_usd'],
    [
      'with more than one payment may be',
      { amount_usd: 10_000.01, monthly_ceiling_usd: 20_000 },
      'amount_usd',
    ],
    ['with a ceiling without end', { monthly_ceiling_usd: 100_000.01 }, 'monthly_ceiling_usd'],
  ])('%s', async (_, body, param) => {
    const account = await createAccount(stage.gateway)
    const { status, body: answer } = await setRules(stage.gateway, account, { enabled: false, ...body })
    expect([status, answer.error.param]).toEqual([400, param])
  })

  test('without a saved card, without amounts, and for a key that may not manage', async () => {
    const account = await createAccount(stage.gateway)
    expect((await setRules(stage.gateway, account)).status).toBe(409)
    const on = { key: account.key, body: { enabled: true } }
    expect((await stage.gateway.request('PATCH', AUTO_TOP_UP, on)).status).toBe(400)
    const reader = await createAccount(stage.gateway, { scopes: ['inference'] })
    expect((await setRules(stage.gateway, reader)).status).toBe(403)
    for (const method of ['POST', 'DELETE'])
      expect((await stage.gateway.request(method, SAVED_CARD, { key: reader.key, body: {} })).status).toBe(
        403,
      )
  })
})
