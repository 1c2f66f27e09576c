import { audioReply } from './audio-servers.ts'
import { completion, json } from './openai-server.ts'
import type { ScriptedReply } from './scripted-server.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- a server of a test fails loudly on a wrong shape
type Body = any

/** Answers text and audio requests of OpenAI's wire. Returns null for other paths. */
export function answerOpenAiText({ path, body }: { path: string; body: unknown }): ScriptedReply | null {
  const call = /\/(chat\/completions|embeddings|moderations|audio\/\w+)$/.exec(path)?.[1]
  return call === undefined ? null : (ANSWERS[call]?.(body) ?? null)
}

const TRANSCRIPT = { text: 'Hello there.', language: 'english', segments: [] }
const MODERATION = { flagged: false, categories: {}, category_scores: {}, category_applied_input_types: {} }

const ANSWERS: Readonly<Record<string, (body: Body) => ScriptedReply>> = {
  'chat/completions': () => completion(),
  'audio/speech': () => audioReply('ID3'),
  'audio/transcriptions': () => json(TRANSCRIPT),
  'audio/translations': () => json(TRANSCRIPT),
  moderations: () => json({ id: 'modr-1', model: 'omni-moderation-latest', results: [MODERATION] }),
  embeddings: ({ model, input }) =>
    json({
      object: 'list',
      model,
      data: [input].flat().map((_, index) => ({ object: 'embedding', index, embedding: [0.5, 0.5] })),
      usage: { prompt_tokens: 1, total_tokens: 1 },
    }),
}
