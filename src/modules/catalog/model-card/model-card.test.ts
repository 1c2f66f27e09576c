import { Value } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import { createCatalog } from '../catalog.ts'
import { ModelCard, toModelCard } from './model-card.ts'

const entry = {
  id: 'tiny',
  name: 'Tiny',
  vendor: 'Acme Labs',
  category: 'llm',
  released: '2026-07-09',
  context_tokens: 131072,
  max_output_tokens: 4096,
  capabilities: ['chat', 'vision'],
  price: { unit: 'token', input_usd_per_1m: 0.075, cached_input_usd_per_1m: 0.0375, output_usd_per_1m: 0.3 },
  routes: [
    { provider: 'groq', model: 'a' },
    { provider: 'openai', model: 'b' },
  ],
  aliases: ['tiny-latest'],
}

function cardOf(changes: object, configured: string[] = [], isSandboxAllowed = false): ModelCard {
  const [model] = createCatalog({ source: { models: [{ ...entry, ...changes }] } }).list()
  if (!model) throw new Error('the model is not listed')
  const isProviderConfigured = (providerId: string) => configured.includes(providerId)
  return toModelCard(model, { isProviderConfigured, isSandboxAllowed })
}

describe('a model card', () => {
  test('has every field of the wire', () => {
    expect(cardOf({}, ['groq'])).toEqual({
      id: 'tiny',
      object: 'model',
      created: Date.UTC(2026, 6, 9) / 1000,
      owned_by: 'acme-labs',
      display_name: 'Tiny',
      vendor: 'Acme Labs',
      category: 'llm',
      model_type: 'llm',
      pricing: '$0.075 in / $0.3 out per 1M tokens',
      pricing_kind: 'per_token',
      context: '131K',
      capabilities: ['chat', 'vision'],
      endpoint: '/v1/chat/completions',
      status: 'active',
      is_ready: true,
      not_ready_reason: null,
      source: 'platform',
      provider: 'groq',
      price: {
        unit: 'token',
        input_usd_per_1m: 0.075,
        cached_input_usd_per_1m: 0.0375,
        output_usd_per_1m: 0.3,
      },
      context_tokens: 131072,
      max_output_tokens: 4096,
      dimensions: null,
      durations: null,
      aliases: ['tiny-latest'],
      shutdown_date: null,
      deprecated_from: null,
      successor: null,
    })
  })

  test.each([
    [131072, '131K'],
    [1048576, '1M'],
    [1050000, '1M'],
    [2000000, '2M'],
    [999999, '999K'],
    [8191, '8K'],
    [163840, '163K'],
    [512, '1K'],
    [null, '-'],
  ])('shows a context of %s tokens as %s', (tokens, text) => {
    expect(cardOf({ context_tokens: tokens }).context).toBe(text)
  })

  test('shows See pricing for units other than tokens and for unlisted prices', () => {
    expect(cardOf({ price: { unit: 'second', usd: 0.00003083 } })).toMatchObject({
      pricing: 'See pricing',
      pricing_kind: 'per_second',
      price: { unit: 'second', usd: 0.00003083 },
    })
    expect(cardOf({ price: { ...entry.price, listed: false } }).pricing).toBe('See pricing')
  })

  test('names the first configured route', () => {
    expect(cardOf({}, ['openai'])).toMatchObject({ is_ready: true, provider: 'openai' })
  })

  test('is served by the sandbox only if the sandbox may serve and nothing is configured', () => {
    expect(cardOf({}, [], true)).toMatchObject({
      is_ready: true,
      not_ready_reason: null,
      provider: 'sandbox',
    })
    expect(cardOf({}, ['groq'], true).provider).toBe('groq')
    expect(cardOf({}, [], false)).toMatchObject({
      is_ready: false,
      not_ready_reason: 'No provider of this model is configured (groq, openai).',
      provider: 'groq',
    })
  })

  test('a model card of every model matches the schema of the reference', () => {
    const catalog = createCatalog({ now: () => 0 })
    const models = [...catalog.list(), ...catalog.list({ category: 'rerank' })]
    for (const model of models) {
      const card = toModelCard(model, { isProviderConfigured: () => false, isSandboxAllowed: false })
      expect([model.id, Value.Errors(ModelCard, card)]).toEqual([model.id, []])
    }
  })
})
