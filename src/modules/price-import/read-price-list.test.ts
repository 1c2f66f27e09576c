import { describe, expect, test } from 'vitest'
import { NotAPriceList, readPriceList } from './read-price-list.ts'

const SONNET = {
  litellm_provider: 'anthropic',
  mode: 'chat',
  max_input_tokens: 200_000,
  max_output_tokens: 64_000,
  input_cost_per_token: 3e-6,
  output_cost_per_token: 1.5e-5,
  cache_read_input_token_cost: 3e-7,
  cache_creation_input_token_cost: 3.75e-6,
  cache_creation_input_token_cost_above_1hr: 6e-6,
  input_cost_per_token_above_200k_tokens: 6e-6,
  output_cost_per_token_above_200k_tokens: 2.25e-5,
  supports_vision: true,
  supports_function_calling: true,
  deprecation_date: '2026-11-30',
}
const litellm = (members: object) => readPriceList(JSON.stringify(members), 'litellm')
const reasonFor = (change: object) => litellm({ model: { ...SONNET, ...change } }).problems[0]?.reason

describe('the list of LiteLLM', () => {
  test('an entry is read with exact amounts, steps and bounds', () => {
    const { models, problems } = litellm({
      sample_spec: { input_cost_per_token: 'in dollars', litellm_provider: 'one of them' },
      'claude-sonnet-4-5': SONNET,
    })
    expect(problems).toEqual([])
    expect(models).toEqual([
      {
        key: 'claude-sonnet-4-5',
        provider: 'anthropic',
        model: 'claude-sonnet-4-5',
        price: {
          unit: 'token',
          input_usd_per_1m: 3,
          cached_input_usd_per_1m: 0.3,
          cache_write_usd_per_1m: 3.75,
          cache_write_1h_usd_per_1m: 6,
          output_usd_per_1m: 15,
          long_context: [{ above_tokens: 200_000, input_usd_per_1m: 6, output_usd_per_1m: 22.5 }],
        },
        category: 'llm',
        contextTokens: 200_000,
        maxOutputTokens: 64_000,
        capabilities: ['tool_use', 'vision'],
        endsOn: '2026-11-30',
      },
    ])
  })

  test('models of resellers lose the prefix, and those of unknown providers are counted', () => {
    const { models, otherProviders } = litellm({
      'groq/llama-3.3-70b': { ...SONNET, litellm_provider: 'groq' },
      'gemini/gemini-3.6-flash': { ...SONNET, litellm_provider: 'gemini' },
      'other/model': { ...SONNET, litellm_provider: 'someone_else' },
    })
    expect(models.map(({ provider, model }) => `${provider} ${model}`)).toEqual([
      'groq llama-3.3-70b',
      'google gemini-3.6-flash',
    ])
    expect(otherProviders).toBe(1)
  })

  test.each([
    [
      'embedding',
      { input_cost_per_token: 2e-8 },
      { unit: 'token', input_usd_per_1m: 0.02, output_usd_per_1m: 0 },
    ],
    ['rerank', { input_cost_per_query: 0.002 }, { unit: 'search', usd: 0.002 }],
    ['image_generation', { output_cost_per_image: 0.04 }, { unit: 'image', usd: 0.04 }],
    ['audio_transcription', { input_cost_per_second: 0.0001 }, { unit: 'second', usd: 0.0001 }],
    ['audio_speech', { input_cost_per_character: 1.5e-5 }, { unit: 'character', usd: 1.5e-5 }],
  ])('a model for %s has its own unit', (mode, fields, price) => {
    const { models, problems } = litellm({ model: { litellm_provider: 'openai', mode, ...fields } })
    expect([problems, models[0]?.price]).toEqual([[], price])
  })

  test.each([
    ['a negative price', { input_cost_per_token: -3e-6 }, 'input_cost_per_token is negative'],
    ['a price as a text', { output_cost_per_token: '0.000015' }, 'output_cost_per_token is not a number'],
    ['an absurd price', { output_cost_per_token: 15 }, 'output_cost_per_token is more than $10000'],
    ['a price of nothing', { input_cost_per_token: 0, output_cost_per_token: 0 }, 'the price is zero'],
    ['free output', { output_cost_per_token: 0 }, 'the price is zero'],
    ['no price', { input_cost_per_token: undefined }, 'it has no price for tokens'],
    ['a price that is null', { output_cost_per_token: null }, 'it has no price for tokens'],
    [
      'a price that is too fine',
      { input_cost_per_token: 1.2345678e-12 },
      'input_cost_per_token is finer than a nano-dollar',
    ],
    [
      'a renamed field',
      { input_price_per_token: 3e-6 },
      'input_price_per_token is not a field that is known',
    ],
    [
      'an unknown unit',
      { output_cost_per_gigabyte: 1 },
      'output_cost_per_gigabyte is not a field that is known',
    ],
    ['dear caching', { cache_read_input_token_cost: 4e-6 }, 'a cached token costs more than another one'],
    ['free caching', { cache_creation_input_token_cost: 0 }, 'writing to the cache costs nothing'],
    [
      'dear reasoning',
      { output_cost_per_reasoning_token: 1 },
      'output_cost_per_reasoning_token is more than $10000',
    ],
    [
      'other reasoning',
      { output_cost_per_reasoning_token: 2e-5 },
      expect.stringContaining('reasoning costs more'),
    ],
    ['an odd context', { max_input_tokens: 1.5 }, 'max_input_tokens is not a count'],
  ])('an entry with %s is listed and not used', (_, change, reason) => {
    expect(reasonFor(change)).toEqual(reason)
  })

  test('prices of other service levels do not make an entry unknown', () => {
    const { models, problems } = litellm({
      model: {
        ...SONNET,
        input_cost_per_token_batches: 1,
        output_cost_per_token_priority: 1,
        cache_read_input_token_cost_flex: 1,
        search_context_cost_per_query: { search_context_size_low: 1 },
        input_cost_per_token_above_200k_tokens_priority: 1,
      },
    })
    expect([models.length, problems]).toEqual([1, []])
  })

  test('a name that the file has twice is listed and not used', () => {
    const entry = JSON.stringify(SONNET)
    const { models, problems } = readPriceList(`{"a":${entry},"b":${entry},"a":${entry}}`, 'litellm')
    expect(models.map(({ key }) => key)).toEqual(['b'])
    expect(problems).toEqual([{ key: 'a', reason: 'the list has this name more than once' }])
  })

  test('names of the prototype and names with markup are names like others, or none', () => {
    const { models, problems } = readPriceList(
      `{"__proto__":${JSON.stringify(SONNET)},"<b>x</b>":${JSON.stringify(SONNET)},"one":7,"\\ud800":{}}`,
      'litellm',
    )
    expect(models.map(({ key }) => key)).toEqual(['__proto__'])
    expect(problems.map(({ reason }) => reason)).toEqual([
      'this is not the name of a model',
      'the entry is not an object',
      'this is not the name of a model',
    ])
    expect(problems.every(({ key }) => key.isWellFormed())).toBe(true)
  })
})

describe('the list of models.dev', () => {
  const model = (cost: unknown) => ({
    id: 'm',
    name: 'M',
    tool_call: true,
    reasoning: true,
    modalities: { input: ['text', 'image'], output: ['text'] },
    limit: { context: 1_000_000, output: 65_536 },
    cost,
  })
  const read = (cost: unknown) =>
    readPriceList(
      JSON.stringify({ google: { id: 'google', models: { 'gemini-x': model(cost) } } }),
      'models.dev',
    )

  test('an entry is read with its step', () => {
    const { models, problems } = read({
      input: 1.25,
      output: 10,
      cache_read: 0.125,
      context_over_200k: { input: 2.5, output: 15, cache_read: 0.25 },
    })
    expect(problems).toEqual([])
    expect(models[0]).toMatchObject({
      key: 'google/gemini-x',
      provider: 'google',
      model: 'gemini-x',
      contextTokens: 1_000_000,
      capabilities: ['tool_use', 'vision', 'reasoning'],
      price: {
        input_usd_per_1m: 1.25,
        cached_input_usd_per_1m: 0.125,
        output_usd_per_1m: 10,
        long_context: [
          {
            above_tokens: 200_000,
            input_usd_per_1m: 2.5,
            cached_input_usd_per_1m: 0.25,
            output_usd_per_1m: 15,
          },
        ],
      },
    })
  })

  test.each([
    ['no price', undefined, 'it has no price'],
    ['a renamed field', { prompt: 1, output: 2 }, 'cost.prompt is not a field that is known'],
    ['a half price', { input: 1 }, 'cost lacks input or output'],
    ['a price of nothing', { input: 0, output: 0 }, 'the price is zero'],
    ['a negative price', { input: 1, output: -2 }, 'cost.output is negative'],
    [
      'a step that is none',
      { input: 1, output: 2, context_over_200k: 7 },
      'cost.context_over_200k is not an object',
    ],
  ])('an entry with %s is listed and not used', (_, cost, reason) => {
    expect(read(cost).problems).toEqual([{ key: 'google/gemini-x', reason }])
  })

  test('a model that a provider has twice is listed and not used', () => {
    const entry = JSON.stringify(model({ input: 1, output: 2 }))
    const text = `{"google":{"models":{"a":${entry},"a":${entry}}},"groq":{"models":{"a":${entry}}}}`
    const { models, problems } = readPriceList(text, 'models.dev')
    expect(models.map(({ key }) => key)).toEqual(['groq/a'])
    expect(problems.map(({ key }) => key)).toEqual(['google/a'])
  })
})

test.each([
  ['not JSON', '{"a":'],
  ['a list', '[]'],
  ['empty', '{}'],
  ['deep', `${'['.repeat(5000)}${']'.repeat(5000)}`],
  ['of another form', '{"google":{"models":{}}}'],
])('a file that is %s is refused', (_, text) => {
  for (const format of ['litellm', 'models.dev'] as const)
    expect(() => readPriceList(text, format)).toThrow(NotAPriceList)
})
