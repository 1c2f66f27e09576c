import { modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { json } from '../upstreams/openai-server.ts'
import type { ScriptedReply } from '../upstreams/scripted-server.ts'

export const EMBEDDINGS = '/v1/embeddings'
/** Costs $0.02 per million tokens; up to 1536 dimensions and 8191 tokens. */
export const SMALL = 'text-embedding-3-small'

/** Starts a gateway with OpenAI's embeddings and models on two servers of the operator, at $1 per million tokens. */
export function startEmbeddingGateway(settings: Record<string, string> = {}): Promise<ChatGateway> {
  const entry = (id: string, providers: readonly string[], members: object = {}) =>
    modelEntry(
      id,
      providers.map((provider, priority) => ({ provider, model: `${provider}-embedder`, priority })),
      { category: 'embedding', capabilities: ['embedding'], ...members },
    )
  return startChatGateway({
    settings,
    providers: ['vllm', 'ollama'],
    models: [
      entry('two-routes', ['vllm', 'ollama'], { aliases: ['two-routes-alias'] }),
      entry('on-vllm', ['vllm']),
      entry('per-request', ['vllm'], { price: { unit: 'request', usd: 0.01 } }),
      entry('nowhere', ['groq']),
    ],
  })
}

export function embeddingBody(members: object = {}): object {
  return { model: SMALL, input: 'The quick brown fox', ...members }
}

/** Returns an answer with these vectors in OpenAI's format. */
export function embeddings(
  vectors: readonly unknown[] = [[0.25, -0.5]],
  members: object = {},
): ScriptedReply {
  return json(JSON.stringify(answerOf(vectors, members), null, 2))
}

export function answerOf(vectors: readonly unknown[], members: object = {}): object {
  return {
    object: 'list',
    data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    model: 'upstream-embedder-v3',
    usage: { prompt_tokens: 5, total_tokens: 5 },
    ...members,
  }
}

export function toBase64(vector: readonly number[]): string {
  return Buffer.from(new Float32Array(vector).buffer).toString('base64')
}
