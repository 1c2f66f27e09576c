import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { startAudioGateway, VOICES, type AudioGateway } from './start-audio-gateway.ts'

let gateway: AudioGateway
let bare: TestGateway
beforeAll(async () => {
  gateway = await startAudioGateway()
  bare = await startTestGateway()
})
afterAll(async () => {
  await gateway.close()
  await bare.close()
})

describe('voices', () => {
  test('are those of the configured providers, in the form of every list', async () => {
    const { status, body } = await gateway.request('GET', `${VOICES}?limit=100`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      object: 'list',
      total: body.data.length,
      has_more: false,
      next_cursor: null,
    })
    expect(body.voices).toEqual(body.data)
    expect(body.data).toContainEqual({
      id: 'alloy',
      name: 'Alloy',
      language: 'multi',
      gender: 'neutral',
      provider: 'openai',
    })
  })

  test('are paged', async () => {
    const { body: all } = await gateway.request('GET', `${VOICES}?limit=100`)
    const seen: unknown[] = []
    let after = ''
    do {
      const query = after === '' ? '?limit=4' : `?limit=4&after=${encodeURIComponent(after)}`
      const { body } = await gateway.request('GET', VOICES + query)
      seen.push(...body.data)
      after = body.next_cursor ?? ''
    } while (after !== '')
    expect(seen).toEqual(all.data)
    const { status, body } = await gateway.request('GET', `${VOICES}?after=nobody`)
    expect([status, body.error.param]).toEqual([400, 'after'])
  })

  test('are filtered by model and language', async () => {
    const { body } = await gateway.request('GET', `${VOICES}?model=tts-1&language=tr&limit=100`)
    expect(body.total).toBeGreaterThan(0)
    expect(new Set(body.data.map(({ provider }: { provider: string }) => provider))).toEqual(
      new Set(['openai']),
    )
    const unknown = await gateway.request('GET', `${VOICES}?model=nobody`)
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'model_not_found'])
    const other = await gateway.request('GET', `${VOICES}?model=gpt-4o-mini`)
    expect([other.status, other.body.error.param]).toEqual([400, 'model'])
  })

  test('are those of the sandbox if nothing is configured, and none for live keys', async () => {
    const { body } = await bare.request('GET', VOICES)
    expect(body.total).toBeGreaterThan(0)
    expect(body.data.every(({ provider }: { provider: string }) => provider === 'sandbox')).toBe(true)
    const { body: live } = await bare.request('POST', '/v1/tenants/me/api-keys', {
      body: { name: 'live', env: 'live', scopes: ['inference'] },
    })
    const none = await bare.request('GET', VOICES, { key: live.key })
    expect([none.status, none.body.data]).toEqual([200, []])
    const model = await bare.request('GET', `${VOICES}?model=tts-1`, { key: live.key })
    expect([model.status, model.body.error.code]).toEqual([503, 'provider_not_configured'])
  })

  test('need a key', async () => {
    expect((await gateway.request('GET', VOICES, { key: null })).status).toBe(401)
  })
})
