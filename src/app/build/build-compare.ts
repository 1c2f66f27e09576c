import type { PromptSources } from '../../http/routes/compare/compare-run-request.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Batches } from '../../modules/batches/batches.ts'
import type { Chat } from '../../modules/chat/chat.ts'
import {
  createAskChat,
  createCompare,
  createDatasets,
  type AskChat,
  type Compare,
  type Datasets,
} from '../../modules/compare/compare.ts'
import { createConversations, type Conversations } from '../../modules/conversations/conversations.ts'
import type { Catalog } from '../../modules/catalog/catalog.ts'
import type { Inference } from '../../modules/inference/inference.ts'
import { createJudging, type Judging } from '../../modules/judging/judging.ts'
import type { Limits } from '../../modules/limits/limits.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { Database } from '../../storage/database.ts'
import type { MessageBus } from '../../storage/bus/message-bus.ts'
import type { Config } from '../settings/config.ts'
import { webhookHosts } from './build-tasks.ts'

interface CompareParts {
  readonly database: Database
  readonly clock: Clock
  readonly messageBus: MessageBus
  readonly inference: Inference
  readonly catalog: Catalog
  readonly chat: Chat
  readonly batches: Batches
  readonly limits: Limits
  readonly logger: Logger
  readonly outbound: Outbound
}

interface BuiltCompare {
  readonly compare: Compare
  readonly datasets: Datasets
  readonly ask: AskChat
  readonly conversations: Conversations
  readonly judging: Judging
}

export function buildCompare(config: Config, parts: CompareParts): BuiltCompare {
  const { limits, outbound } = parts
  return {
    compare: createCompare({ ...parts, webhookHosts: webhookHosts(config, outbound) }),
    datasets: createDatasets({ ...parts, quotaOf: limits.quotaOf }),
    ask: createAskChat(parts),
    conversations: createConversations(parts),
    judging: createJudging(parts),
  }
}

/** Returns the sources of prompts for runs: datasets, earlier runs and conversations. */
export function findPromptSources({
  compare,
  datasets,
  conversations,
}: Pick<BuiltCompare, 'compare' | 'datasets' | 'conversations'>): PromptSources {
  return {
    readDataset: (place, datasetId) => datasets.read(place, datasetId),
    readRun: async (place, runId) => {
      const run = await compare.read(place, runId)
      return { ...run, prompts: await compare.readRunPrompts(run) }
    },
    readConversation: async (place, conversationId) => {
      const conversation = await conversations.read(place, conversationId)
      const turns = await conversations.readTurns(conversation)
      const { system } = conversation
      return {
        projectId: conversation.projectId,
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
