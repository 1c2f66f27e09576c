import type { TSchema } from 'typebox'
import { errorBodyOf, toErrorAnswer } from '../../http/answers/error-envelope.ts'
import { compileCheck } from '../../http/bodies/validate.ts'
import { AppError } from '../../kernel/app-error.ts'
import { isRecord } from '../../kernel/is-record.ts'
import { stringifyJson } from '../../kernel/json/stringify-json.ts'
import {
  createBatches,
  type BatchEndpoint,
  type Batches,
  type HandedCall,
  type LineCall,
} from '../../modules/batches/batches.ts'
import type { Category } from '../../modules/catalog/catalog.ts'
import type { Chat } from '../../modules/chat/chat.ts'
import type { Embeddings } from '../../modules/embeddings/embeddings.ts'
import type {
  AskedMembers,
  Inference,
  InferenceRecord,
  InferenceRequest,
  InferenceResult,
  WholeAnswer,
} from '../../modules/inference/inference.ts'
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
import type { Wire } from '../../wires/wire.ts'
import type { Config } from '../settings/config.ts'
import { webhookHosts } from './build-tasks.ts'

interface EndpointParts {
  readonly inference: Inference
  readonly chat: Chat
  readonly responses: Responses
  readonly embeddings: Embeddings
  readonly rerank: Rerank
  readonly moderation: Moderation
}

type BatchParts = EndpointParts &
  Omit<Parameters<typeof createBatches>[0], 'findEndpoint' | 'findBatchApi' | 'webhookHosts'> & {
    readonly providers: Pick<ProviderRegistry, 'get'>
    readonly outbound: Pick<Outbound, 'requirePublic'>
  }

export interface BuiltBatches {
  readonly batches: Batches
  readonly batchEndpoints: ReadonlyMap<string, BatchEndpoint>
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
  return { batches, batchEndpoints }
}

function listEndpoints(config: Pick<Config, 'batchProviders'>, parts: EndpointParts): BatchEndpoint[] {
  const { inference: calls, chat, responses, embeddings, rerank, moderation } = parts
  const inference = { ...calls, batchProviders: new Set(config.batchProviders) }
  const text = { category: 'llm', isOffered: (provider: Provider) => provider.chat !== undefined } as const
  return [
    createEndpoint<ChatRequest>(inference, {
      ...text,
      path: '/v1/chat/completions',
      operation: 'chat',
      schema: ChatRequest,
      wire: openAiWire,
      start: (request) => chat.chat(request),
    }),
    createEndpoint<CompletionRequest>(inference, {
      ...text,
      path: '/v1/completions',
      operation: 'completion',
      schema: CompletionRequest,
      wire: openAiWire,
      start: (request) => chat.completion(request),
    }),
    createEndpoint<ResponsesRequest>(inference, {
      ...text,
      path: '/v1/responses',
      operation: 'responses',
      schema: ResponsesRequest,
      wire: responsesWire,
      start: (request) => responses.create(request),
    }),
    createEndpoint<MessagesRequest>(inference, {
      ...text,
      path: '/v1/messages',
      operation: 'messages',
      schema: MessagesRequest,
      wire: messagesWire,
      start: (request) => chat.messages(request),
    }),
    createEndpoint<EmbeddingRequest>(inference, {
      path: '/v1/embeddings',
      operation: 'embedding',
      category: 'embedding',
      isOffered: ({ embedding }) => embedding !== undefined,
      schema: EmbeddingRequest,
      wire: openAiWire,
      start: (request) => embeddings.embed(request),
    }),
    createEndpoint<ModerationRequest>(inference, {
      path: '/v1/moderations',
      operation: 'moderation',
      category: 'moderation',
      isOffered: ({ moderation: offered }) => offered !== undefined,
      schema: ModerationRequest,
      wire: openAiWire,
      start: (request) => moderation.moderate(request),
    }),
    createEndpoint<RerankRequest>(inference, {
      path: '/v1/rerank',
      operation: 'rerank',
      category: 'rerank',
      isOffered: ({ rerank: offered }) => offered !== undefined,
      schema: RerankRequest,
      wire: rerankWire,
      start: (request) => rerank.rank(request),
    }),
  ]
}

interface EndpointDescription<Body extends AskedMembers> {
  readonly path: string
  readonly operation: InferenceRecord['operation']
  readonly category: Category
  readonly isOffered: (provider: Provider) => boolean
  /** Of the body. */
  readonly schema: TSchema
  readonly wire: Wire
  readonly start: (request: InferenceRequest<Body>) => Promise<InferenceResult>
}

/** Charges of lines are shown under this route. */
const ROUTE = '/v1/batches'

function createEndpoint<Body extends AskedMembers>(
  { selectorFor, unattended, batchProviders }: EndpointCalls,
  { path, operation, category, isOffered, schema, wire, start }: EndpointDescription<Body>,
): BatchEndpoint {
  const check: (body: unknown) => asserts body is Body = compileCheck(schema)
  const selector = selectorFor([category], isOffered)
  const ask = async ({ body, handed, onAdmitted, ...call }: LineCall): Promise<string> => {
    check(body)
    const text = stringifyJson(body)
    const payload = await unattended.answer({
      ...call,
      ...priceOf(handed),
      operation,
      route: ROUTE,
      body,
      text,
      bytes: Buffer.byteLength(text),
      start,
      onAdmitted: (record, admission) => {
        record.isBatch = true
        onAdmitted(record, admission)
      },
    })
    return textOf(payload)
  }
  return {
    path,
    check,
    resolveModel: (caller, body) => {
      const model = isRecord(body) ? body['model'] : undefined
      return typeof model === 'string' ? selector.resolveModel(caller, model) : null
    },
    handingOf: (caller, body) => {
      const model = isRecord(body) ? body['model'] : undefined
      // Each choice would be a request of its own.
      if (typeof model !== 'string' || (isRecord(body) && Number(body['n'] ?? 1) > 1)) return null
      try {
        const found = selector.resolveModel(caller, model)
        const [first] = selector.select(caller, found, model, NO_AFFINITY)
        if (first?.provider.batch === undefined || !batchProviders.has(first.provider.id)) return null
        return { providerId: first.provider.id, upstreamModel: first.upstreamModel }
      } catch (error) {
        // The line gets it as its answer.
        if (error instanceof AppError) return null
        throw error
      }
    },
    ask,
    describeError: (error, requestId) => {
      const answer = toErrorAnswer(error, requestId)
      return { status: answer.status, body: JSON.stringify(errorBodyOf(answer, wire)) }
    },
  }
}

interface EndpointCalls extends Pick<Inference, 'selectorFor' | 'unattended'> {
  /** The providers whose batch APIs get lines. */
  readonly batchProviders: ReadonlySet<string>
}

const NO_AFFINITY = (): null => null

/** A line that is handed over has the limits of the vendor's batches, and not the rates of requests. */
function priceOf(handed: HandedCall | null) {
  if (handed === null) return { batchWay: { kind: 'single' } as const }
  const { handOver, providerId, vendorMillionths, pricedAtMs } = handed
  return {
    batchWay: { kind: 'handed', vendorMillionths } as const,
    handOver,
    onlyProvider: providerId,
    ...(pricedAtMs === null ? {} : { pricedAtMs }),
    admit: () => UNLIMITED,
  }
}

const UNLIMITED = { finish: () => {}, requestRate: () => null, tokenRate: () => null }

function textOf(payload: WholeAnswer['payload']): string {
  return typeof payload === 'string' ? payload : Buffer.concat(payload).toString('utf8')
}
