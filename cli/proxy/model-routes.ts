/** Routes of one call to a model. A body without a model gets the pinned one. */
const MODEL_ROUTES: ReadonlySet<string> = new Set([
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/messages',
  '/v1/messages/count_tokens',
  '/v1/responses',
  '/v1/responses/input_tokens',
  '/v1/responses/compact',
  '/v1/embeddings',
  '/v1/rerank',
  '/v2/rerank',
  '/v1/moderations',
  '/v1/images/generations',
  '/v1/images/edits',
  '/v1/images/upscale',
  '/v1/images/bg-remove',
  '/v1/videos/generations',
  '/v1/audio/music',
  '/v1/audio/speech',
  '/v1/audio/transcriptions',
  '/v1/audio/translations',
])

/** Whether a request to this path, with or without a query, is one call to a model. */
export function isModelRoute(path: string): boolean {
  const [route = ''] = path.split('?', 1)
  return MODEL_ROUTES.has(route.replace(/^\/anthropic(?=\/)/, ''))
}
