import { describe, expect, test } from 'vitest'
import { CatalogInvalid, loadCatalog, type LoadCatalogOptions } from './load-catalog.ts'

const entry = {
  id: 'tiny',
  name: 'Tiny',
  vendor: 'Acme',
  category: 'llm',
  context_tokens: 8191,
  capabilities: ['chat'],
  price: { unit: 'token', input_usd_per_1m: 0.15, output_usd_per_1m: 0.6 },
  routes: [{ provider: 'openai', model: 'tiny-1' }],
  aliases: ['tiny-latest'],
}
const source = { models: [entry] }

function problemsOf(options: LoadCatalogOptions): readonly string[] {
  try {
    loadCatalog(options)
  } catch (error) {
    if (error instanceof CatalogInvalid) return error.problems
    throw error
  }
  return []
}

function overridden(...models: object[]) {
  return loadCatalog({ source, override: { file: 'own.yaml', document: { models } } })
}

describe('a catalog document', () => {
  test('becomes models with exact prices and ordered routes', () => {
    const [model] = loadCatalog({
      source: {
        models: [
          {
            ...entry,
            price: { ...entry.price, cached_input_usd_per_1m: 0.003625 },
            routes: [
              { provider: 'groq', model: 'a', priority: 5, timeouts: { first_byte_ms: 900 } },
              { provider: 'openai', model: 'b', weight: 3 },
            ],
          },
        ],
      },
    })
    expect(model?.price).toEqual({
      unit: 'token',
      inputNanoUsdPer1m: 150_000_000n,
      cachedInputNanoUsdPer1m: 3_625_000n,
      outputNanoUsdPer1m: 600_000_000n,
      longContext: [],
    })
    expect(model?.routes).toEqual([
      { provider: 'openai', model: 'b', priority: 1, weight: 3, timeouts: {} },
      { provider: 'groq', model: 'a', priority: 5, weight: 1, timeouts: { firstByteMs: 900 } },
    ])
  })

  test('charges cached tokens as input if no cached price is published', () => {
    const [model] = loadCatalog({ source })
    expect(model?.price).toMatchObject({ cachedInputNanoUsdPer1m: 150_000_000n })
  })

  test("charges the cache of a Claude model at Anthropic's prices if an entry has none", () => {
    const claude = { ...entry, price: { unit: 'token', input_usd_per_1m: 3, output_usd_per_1m: 15 } }
    const prices = [
      { ...claude, vendor: 'Anthropic' },
      { ...claude, routes: [{ provider: 'anthropic', model: 'claude' }] },
    ].map((one) => loadCatalog({ source: { models: [one] } })[0]?.price)
    for (const price of prices)
      expect(price).toMatchObject({
        cachedInputNanoUsdPer1m: 300_000_000n,
        cacheWriteNanoUsdPer1m: 3_750_000_000n,
        cacheWriteHourNanoUsdPer1m: 6_000_000_000n,
      })
  })

  test('never prices a cache write below input, nor one for an hour below one for minutes', () => {
    const price = {
      unit: 'token',
      input_usd_per_1m: 4,
      cache_write_usd_per_1m: 2.5,
      cache_write_1h_usd_per_1m: 3,
      output_usd_per_1m: 10,
    }
    const [model] = loadCatalog({ source: { models: [{ ...entry, price }] } })
    expect(model?.price).toMatchObject({
      cacheWriteNanoUsdPer1m: 4_000_000_000n,
      cacheWriteHourNanoUsdPer1m: 4_000_000_000n,
    })
  })

  test('reports every problem at once, each with its place', () => {
    const problems = problemsOf({
      source: {
        models: [
          { ...entry, price: { unit: 'barrel' } },
          { ...entry, id: 'b', aliases: [], capabilities: ['flying'], context_tokens: 'many', routes: [] },
          { ...entry, id: 'c', aliases: [], price: { unit: 'token', input_usd_per_1m: 1 } },
          { ...entry, id: 'd', aliases: [], price: { unit: 'image', usd: 1e-12 } },
          { ...entry, id: 'e', aliases: [], routes: [{ provider: 'nobody', model: 'x' }] },
        ],
        service_models: [{ id: 'f' }],
      },
      isKnownProvider: (providerId) => providerId === 'openai',
    })
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'models[0].price.unit',
      'models[1].context_tokens',
      'models[1].capabilities[0]',
      'models[1].routes',
      'models[2].price.output_usd_per_1m',
      'models[3].price.usd',
      'models[4].routes[0].provider',
      'service_models[0]',
    ])
    expect(problems[0]).toContain('token, image, second')
  })

  test('refuses an id that is defined twice and an alias that names two models', () => {
    expect(problemsOf({ source: { models: [entry, entry] } })).toEqual([
      "models[1].id: 'tiny' is already defined by models[0]",
    ])
    expect(problemsOf({ source: { models: [entry, { ...entry, id: 'tiny-latest', aliases: [] }] } })).toEqual(
      ["the alias 'tiny-latest' of 'tiny' already names 'tiny-latest'"],
    )
  })

  test('is refused as a whole if it is not a document', () => {
    for (const document of [null, 'text', [], 7]) expect(problemsOf({ source: document })).not.toEqual([])
    expect(problemsOf({ source: { models: [{}] } })).toEqual(['models[0]: must have required properties id'])
  })
})

describe("an operator's document", () => {
  test('changes only the amounts it names', () => {
    const [model] = overridden({ id: 'tiny', price: { input_usd_per_1m: 1 } })
    expect(model?.price).toMatchObject({
      inputNanoUsdPer1m: 1_000_000_000n,
      outputNanoUsdPer1m: 600_000_000n,
    })
    expect(model?.displayName).toBe('Tiny')
  })

  test('replaces the price if the unit differs', () => {
    const [model] = overridden({ id: 'tiny', price: { unit: 'request', usd: 0.01 } })
    expect(model?.price).toEqual({ unit: 'request', nanoUsdPerUnit: 10_000_000n })
  })

  test('replaces routes, or adds to them', () => {
    const vllm = { provider: 'vllm', model: 'tiny' }
    const providers = (field: string) =>
      overridden({ id: 'tiny', [field]: [vllm] })[0]?.routes.map(({ provider }) => provider)
    expect(providers('routes')).toEqual(['vllm'])
    expect(providers('extra_routes')).toEqual(['openai', 'vllm'])
  })

  test('adds a model and removes one', () => {
    const ids = overridden({ ...entry, id: 'own', aliases: [] }, { id: 'tiny', disabled: true }).map(
      ({ id }) => id,
    )
    expect(ids).toEqual(['own'])
  })

  test('removes its names from the aliases of a default model', () => {
    const models = overridden({ ...entry, id: 'tiny-latest', aliases: [] })
    expect(models.map(({ id, aliases }) => [id, aliases])).toEqual([
      ['tiny', []],
      ['tiny-latest', []],
    ])
  })

  test('is named in the location of its problems', () => {
    const document = { models: [{ id: 'own' }, { id: 'tiny', price: { unit: 'x' }, extra_routes: 3 }] }
    expect(problemsOf({ source, override: { file: 'own.yaml', document } })).toEqual([
      'own.yaml: models[1].price.unit: must be one of token, image, second, character, search, request',
      'own.yaml: models[1].routes: must be array',
      'own.yaml: models[0]: must have required properties name, vendor, category, price, routes',
    ])
  })
})
