import type { Schemas } from './client.ts'

export type Model = Schemas['Model']
export type ModelCategory = Model['category']

/** What people call the categories of models. */
export const MODEL_KINDS: Readonly<Record<ModelCategory, string>> = {
  llm: 'Chat',
  image: 'Images',
  video: 'Video',
  stt: 'Transcription',
  tts: 'Speech',
  embedding: 'Embeddings',
  music: 'Music',
  rerank: 'Rerank',
  moderation: 'Moderation',
  upscale: 'Upscale',
  bg_remove: 'Background removal',
}
