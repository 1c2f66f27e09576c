import type { ModelInput } from '../offer/offer.ts'
import type { ListedModel } from './price-list.ts'

const CAPABILITIES_OF_CATEGORY: Readonly<Record<ListedModel['category'], readonly string[]>> = {
  llm: ['chat'],
  embedding: ['embedding', 'embeddings'],
  rerank: [],
  image: ['image_generation'],
  stt: ['stt'],
  tts: ['tts', 'text_to_speech'],
}

/** Returns a new model as the list describes it. */
export function toModelInput(
  listed: ListedModel,
  vendor: string,
): Pick<ModelInput, 'id' | 'entry' | 'price' | 'visibility'> {
  const { model, provider, category, contextTokens, maxOutputTokens, capabilities, endsOn } = listed
  return {
    id: model,
    entry: {
      name: model,
      vendor,
      category,
      ...(contextTokens === null ? {} : { context_tokens: contextTokens }),
      ...(maxOutputTokens === null ? {} : { max_output_tokens: maxOutputTokens }),
      ...(endsOn === null ? {} : { retires: endsOn }),
      capabilities: [...CAPABILITIES_OF_CATEGORY[category], ...capabilities],
      routes: [{ provider, model }],
    },
    price: { ...listed.price },
    visibility: null,
  }
}
