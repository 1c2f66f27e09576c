import {
  createBatches,
  InteractiveLoad,
  type BatchEndpoint,
  type Batches,
} from '../../modules/batches/batches.ts'
import type { Chat } from '../../modules/chat/chat.ts'
import type { Embeddings } from '../../modules/embeddings/embeddings.ts'
import type { Generation } from '../../modules/generation/generation.ts'
import type { Inference } from '../../modules/inference/inference.ts'
import type { Moderation } from '../../modules/moderation/moderation.ts'
import type { Rerank } from '../../modules/rerank/rerank.ts'
import type { Responses } from '../../modules/responses/responses.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { Provider } from '../../providers/provider.ts'
import type { ProviderRegistry } from '../../providers/registry.ts'
import { MessagesRequest } from '../../wires/anthropic-messages/messages-request.ts'
import { messagesWire } from '../../wires/anthropic-messages/messages-wire.ts'
import { ChatRequest } from '../../wires/openai-chat/chat-request.ts'
import { openAiWire } from '../../wires/openai-chat/openai-wire.ts'
import { CompletionRequest } from '../../wires/openai-completions/completion-request.ts'
import { EmbeddingRequest } from '../../wires/openai-embeddings/embedding-request.ts'
import { ModerationRequest } from '../../wires/openai-moderations/moderation-request.ts'
import { ResponsesRequest } from '../../wires/openai-responses/responses-request.ts'
import { responsesWire } from '../../wires/openai-responses/responses-wire.ts'
import { RerankRequest } from '../../wires/rerank/rerank-request.ts'
import { rerankWire } from '../../wires/rerank/rerank-wire.ts'
import type { Config } from '../settings/config.ts'
import { createBatchEndpoint } from './batch-endpoint.ts'
import { imageEndpoints } from './batch-image-endpoints.ts'
import { webhookHosts } from './build-tasks.ts'

interface EndpointParts {
  readonly inference: Inference
  readonly chat: Chat
  readonly responses: Responses
  readonly embeddings: Embeddings
  readonly rerank: Rerank
  readonly moderation: Moderation
  readonly generation: Pick<Generation, 'generate' | 'quote'>
}

type BatchParts = EndpointParts &
  Omit<Parameters<typeof createBatches>[0], 'findEndpoint' | 'findBatchApi' | 'webhookHosts'> & {
    readonly providers: Pick<ProviderRegistry, 'get'>
    readonly outbound: Pick<Outbound, 'requirePublic'>
  }

export interface BuiltBatches {
  readonly batches: Batches
  readonly batchEndpoints: ReadonlyMap<string, BatchEndpoint>
  /** Told of the requests of the process, for which batches make way. */
  readonly interactiveLoad: InteractiveLoad
}

export function buildBatches(config: Config, parts: BatchParts): BuiltBatches {
  const batchEndpoints = new Map(listEndpoints(config, parts).map((endpoint) => [endpoint.path, endpoint]))
  const findEndpoint = (path: string) => batchEndpoints.get(path)
  const hosts = webhookHosts(config, parts.outbound)
  const batches = createBatches({
    ...parts,
    findEndpoint,
    findBatchApi: (providerId) => parts.providers.get(providerId)?.batch ?? null,
    webhookHosts: hosts,
  })
  return { batches, batchEndpoints, interactiveLoad: new InteractiveLoad(batchEndpoints.keys()) }
}

function listEndpoints(config: Pick<Config, 'batchProviders'>, parts: EndpointParts): BatchEndpoint[] {
  const { inference: calls, chat, responses, embeddings, rerank, moderation } = parts
  const inference = { ...calls, batchProviders: new Set(config.batchProviders) }
  const text = { category: 'llm', isOffered: (provider: Provider) => provider.chat !== undefined } as const
  return [
    createBatchEndpoint<ChatRequest>(inference, {
      ...text,
      path: '/v1/chat/completions',
      operation: 'chat',
      schema: ChatRequest,
      wire: openAiWire,
      start: (request) => chat.chat(request),
    }),
    createBatchEndpoint<CompletionRequest>(inference, {
      ...text,
      path: '/v1/completions',
      operation: 'completion',
      schema: CompletionRequest,
      wire: openAiWire,
      start: (request) => chat.completion(request),
    }),
    createBatchEndpoint<ResponsesRequest>(inference, {
      ...text,
      path: '/v1/responses',
      operation: 'responses',
      schema: ResponsesRequest,
      wire: responsesWire,
      start: (request) => responses.create(request),
    }),
    createBatchEndpoint<MessagesRequest>(inference, {
      ...text,
      path: '/v1/messages',
      operation: 'messages',
      schema: MessagesRequest,
      wire: messagesWire,
      start: (request) => chat.messages(request),
    }),
    createBatchEndpoint<EmbeddingRequest>(inference, {
      path: '/v1/embeddings',
      operation: 'embedding',
      category: 'embedding',
      isOffered: ({ embedding }) => embedding !== undefined,
      schema: EmbeddingRequest,
      wire: openAiWire,
      start: (request) => embeddings.embed(request),
    }),
    createBatchEndpoint<ModerationRequest>(inference, {
      path: '/v1/moderations',
      operation: 'moderation',
      category: 'moderation',
      isOffered: ({ moderation: offered }) => offered !== undefined,
      schema: ModerationRequest,
      wire: openAiWire,
      start: (request) => moderation.moderate(request),
    }),
    createBatchEndpoint<RerankRequest>(inference, {
      path: '/v1/rerank',
      operation: 'rerank',
      category: 'rerank',
      isOffered: ({ rerank: offered }) => offered !== undefined,
      schema: RerankRequest,
      wire: rerankWire,
      start: (request) => rerank.rank(request),
    }),
    ...imageEndpoints(inference, parts.generation),
  ]
}
