/** A small request of every route that uses a model. Each names it in its own way. */
export const MODEL_ROUTES: Readonly<Record<string, (model: string) => object>> = {
  '/v1/chat/completions': (model) => ({ model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 }),
  '/v1/completions': (model) => ({ model, prompt: 'Hi', max_tokens: 5 }),
  '/v1/messages': (model) => ({ model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 }),
  '/v1/messages/count_tokens': (model) => ({ model, messages: [{ role: 'user', content: 'Hi' }] }),
  '/anthropic/v1/messages': (model) => ({
    model,
    messages: [{ role: 'user', content: 'Hi' }],
    max_tokens: 5,
  }),
  '/anthropic/v1/messages/count_tokens': (model) => ({
    model,
    messages: [{ role: 'user', content: 'Hi' }],
  }),
  '/v1/responses': (model) => ({ model, input: 'Hi', max_output_tokens: 20 }),
  '/v1/responses/compact': (model) => ({ model, input: 'Hi' }),
  '/v1/responses/input_tokens': (model) => ({ model, input: 'Hi' }),
  '/v1/embeddings': (model) => ({ model, input: 'Hi' }),
  '/v1/rerank': (model) => ({ model, query: 'cat', documents: ['a cat', 'a car'] }),
  '/v2/rerank': (model) => ({ model, query: 'cat', documents: ['a cat', 'a car'] }),
  '/v1/moderations': (model) => ({ model, input: 'Hi' }),
  '/v1/images/generations': (model) => ({ model, prompt: 'A cube' }),
  '/v1/images/edits': (model) => ({ model, prompt: 'A cube', image: PICTURE }),
  '/v1/images/upscale': (model) => ({ model, image: PICTURE }),
  '/v1/images/bg-remove': (model) => ({ model, image: PICTURE }),
  '/v1/videos/generations': (model) => ({ model, prompt: 'Waves' }),
  '/v1/audio/speech': (model) => ({ model, input: 'Hi', voice: 'nova' }),
  '/v1/audio/music': (model) => ({ model, prompt: 'A waltz' }),
  '/v1/audio/transcriptions': (model) => ({ model, file: RECORDING }),
  '/v1/audio/translations': (model) => ({ model, file: RECORDING }),
  '/v1/compare/runs': (model) => ({ prompts: ['Hi'], lanes: [{ model }, { model }] }),
  '/v1/compare/estimates': (model) => ({ prompts: ['Hi'], lanes: [{ model }, { model }] }),
  '/v1/compare/conversations': (model) => ({ lanes: [{ model }, { model }] }),
}

const PICTURE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const RECORDING = Buffer.from('RIFF').toString('base64')
