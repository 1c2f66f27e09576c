import { toErrorAnswer } from '../http/answers/error-envelope.ts'
import type { PromptSources } from '../http/routes/compare/compare-run-request.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Chat } from '../modules/chat/chat.ts'
import {
  createAskChat,
  createCompare,
  createDatasets,
  type AskChat,
  type Compare,
  type Datasets,
  type EndedCall,
} from '../modules/compare/compare.ts'
import { createConversations, type Conversations } from '../modules/conversations/conversations.ts'
import type { Catalog } from '../modules/catalog/catalog.ts'
import type { Inference } from '../modules/inference/inference.ts'
import { createJudging, type Judging } from '../modules/judging/judging.ts'
import type { Limits } from '../modules/limits/limits.ts'
import type { Database } from '../storage/database.ts'
import type { MessageBus } from '../storage/message-bus.ts'
import type { GatewayLogger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Tracer } from '../telemetry/tracing.ts'
import { tokenCounts, traceCall } from './trace-inference.ts'

interface CompareParts {
  readonly database: Database
  readonly clock: Clock
  readonly messageBus: MessageBus
  readonly inference: Inference
  readonly catalog: Catalog
  readonly chat: Chat
  readonly limits: Limits
  readonly metrics: Metrics
  readonly tracer: Tracer | null
  readonly logger: GatewayLogger
}

interface BuiltCompare {
  readonly compare: Compare
  readonly datasets: Datasets
  readonly ask: AskChat
  readonly conversations: Conversations
  readonly judging: Judging
}

export function buildCompare(parts: CompareParts): BuiltCompare {
  const { metrics, tracer, chat, limits } = parts
  const onCall = (call: EndedCall): void => {
    countCall(metrics, call)
    if (tracer !== null) traceCall(tracer, call)
  }
  return {
    compare: createCompare(parts),
    datasets: createDatasets({ ...parts, quotaOf: limits.quotaOf }),
    ask: createAskChat({ chat, limits, onCall }),
    conversations: createConversations({ ...parts, onCall }),
    judging: createJudging(parts),
  }
}

/** As its line of the API would be named. */
const ROUTE = '/v1/compare'

// Calls that nobody waits for are counted among the requests: they use the same models and cost the same.
function countCall(metrics: Metrics, { record, durationMs, error }: EndedCall): void {
  const { model, provider, firstTokenMs, usage } = record
  const status = error === null ? 200 : toErrorAnswer(error, '').status
  metrics.requestStarted(ROUTE)
  metrics.requestFinished({
    route: ROUTE,
    status,
    durationMs,
    model: model ?? undefined,
    provider: provider ?? undefined,
    firstTokenMs: firstTokenMs ?? undefined,
    usage: usage === null ? undefined : tokenCounts(usage),
  })
}

/** Where the prompts of a run come from when it is made of something else. */
export function findPromptSources({
  datasets,
  conversations,
}: Pick<BuiltCompare, 'datasets' | 'conversations'>): PromptSources {
  return {
    readDataset: (accountId, datasetId) => datasets.read(accountId, datasetId),
    readConversation: async (accountId, conversationId) => {
      const conversation = await conversations.read(accountId, conversationId)
      const turns = await conversations.readTurns(conversation)
      const { system } = conversation
      return {
        prompts: turns.map(({ messages }) => ({ id: null, messages, expected: null })),
        lanes: conversation.lanes.map(({ model, name, params }) => ({
          model,
          name,
          params: system === null ? params : { system, ...params },
        })),
      }
    },
  }
}
