import type { Clock } from '../../kernel/clock.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { Database } from '../../storage/database.ts'
import type { Place } from '../../storage/place.ts'
import type { Chat } from '../chat/chat.ts'
import { explainUnkeepable } from '../compare/compare.ts'
import type { Inference } from '../inference/inference.ts'
import type { Caller } from '../keys/keys.ts'
import {
  createConversation,
  deleteConversation,
  updateConversation,
  type ConversationChanges,
  type ConversationOrder,
} from './change-conversations.ts'
import type { Conversation, Turn } from './conversation.ts'
import { listConversations, readConversation } from './read-conversations.ts'
import { readTurns } from './read-turns.ts'
import { takeTurn, type OpenTurn, type TurnOrder } from './take-turn.ts'

export type { Conversation, ConversationLane, Reply, Turn } from './conversation.ts'
export type { OpenTurn, TurnEvent } from './take-turn.ts'

/** Conversations with several lanes that answer concurrently. */
export interface Conversations {
  create(caller: Caller, order: ConversationOrder): Promise<Conversation>
  read(place: Place, conversationId: string): Promise<Conversation>
  readTurns(conversation: Conversation): Promise<Turn[]>
  list(place: Place, page: PageRequest): Promise<Page<Conversation>>
  update(place: Place, conversationId: string, changes: ConversationChanges): Promise<Conversation>
  /** Throws `conflict` while a turn is being answered. */
  remove(place: Place, conversationId: string): Promise<void>
  /** Sends the same messages to every lane. Throws `conflict` while another turn is being answered. */
  takeTurn(order: TurnOrder): Promise<OpenTurn>
}

interface ConversationsOptions {
  readonly database: Database
  readonly inference: Pick<Inference, 'selectorFor' | 'unattended'>
  readonly chat: Pick<Chat, 'chat'>
  readonly clock: Clock
}

export function createConversations(options: ConversationsOptions): Conversations {
  const { database, inference } = options
  const selector = inference.selectorFor(['llm'], ({ chat }) => chat !== undefined)
  const keep = async <Result>(param: string, work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work()
    } catch (error) {
      throw explainUnkeepable(error, param)
    }
  }
  return {
    create: (caller, order) =>
      keep('lanes', () => createConversation({ ...options, selector }, caller, order)),
    read: (place, conversationId) => readConversation(database, place, conversationId),
    readTurns: ({ id }) => readTurns(database, id),
    list: (place, page) => listConversations(database, place, page),
    update: (place, conversationId, changes) =>
      keep('name', () => updateConversation(options, place, conversationId, changes)),
    remove: (place, conversationId) => deleteConversation(options, place, conversationId),
    takeTurn: (order) => keep('content', () => takeTurn(options, order)),
  }
}
