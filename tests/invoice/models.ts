import catalog from '../../src/modules/catalog/catalog.json' with { type: 'json' }
import { loadCatalog } from '../../src/modules/catalog/file/load-catalog.ts'
import type { CatalogModel } from '../../src/modules/catalog/catalog-model.ts'

/** Models that the built-in catalog does not have: one with a price of audio, and two of an own server. */
export const OWN_MODELS = [
  entry('gpt-audio', 'OpenAI', 'openai', {
    price: {
      unit: 'token',
      input_usd_per_1m: 2.5,
      output_usd_per_1m: 10,
      audio_input_usd_per_1m: 32,
      audio_output_usd_per_1m: 64,
    },
    context_tokens: 128_000,
    max_output_tokens: 16_384,
    capabilities: ['chat', 'tool_use', 'vision'],
  }),
  entry('own-vision', 'Qwen', 'vllm', { capabilities: ['chat', 'tool_use', 'vision', 'video'] }),
  entry('own-thinker', 'Qwen', 'vllm', { capabilities: ['chat', 'tool_use', 'reasoning'] }),
]

function entry(id: string, vendor: string, provider: string, members: object): object {
  return {
    id,
    name: id,
    vendor,
    category: 'llm',
    context_tokens: 131_072,
    max_output_tokens: 32_768,
    price: { unit: 'token', input_usd_per_1m: 0.4, cached_input_usd_per_1m: 0.1, output_usd_per_1m: 1.2 },
    routes: [{ provider, model: id }],
    ...members,
  }
}

const models = loadCatalog({
  source: catalog,
  override: { file: 'catalog.json', document: { models: OWN_MODELS } },
})

/** Returns the model that the gateway sells, by the vendor's name of it. */
export function findSold(vendor: string, model: string): CatalogModel | null {
  const sells = ({ routes }: CatalogModel) =>
    routes.some((route) => route.provider === vendor && route.model === model)
  return models.find((one) => one.id === model && sells(one)) ?? models.find(sells) ?? null
}
