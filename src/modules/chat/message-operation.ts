import type { ChatRequest } from '../../providers/chat-wire.ts'
import { messagesThroughChat } from '../../wires/anthropic-messages/messages-through-chat.ts'
import type { CountTokensRequest, MessagesRequest } from '../../wires/anthropic-messages/messages-request.ts'
import { toChatRequest, toChatPrompt } from '../../wires/anthropic-messages/to-chat-request.ts'
import type { Operation } from './call-candidate.ts'
import { checkChatContext } from './check-context.ts'
import { checkMessages } from './check-messages.ts'
import { countChatPromptTokens } from './count-prompt-tokens.ts'
import { estimateChat, refineChat } from './estimate-cost.ts'
import { findFilesOfMessages, inlineFilesOfMessages } from './inline-message-files.ts'
import { MESSAGE_FORM } from './message-form.ts'
import { screenSound } from './screen-sound.ts'
import { soundOfChat } from './sound-tokens.ts'

/** A request of Anthropic's wire costs and is counted as its translation does. */
export const MESSAGES: Operation<MessagesRequest> = {
  form: MESSAGE_FORM,
  of: ({ id, chat }) => chat && messagesThroughChat(id, chat),
  countPromptTokens: (body, countTokens) => countChatPromptTokens(chatOf(body), countTokens),
  pricedMembers: () => PRICED_MEMBERS,
  screenSound: (model, body, candidates) => screenSound(model, chatOf(body), candidates),
  soundOf: (body) => soundOfChat(chatOf(body)),
  files: { find: findFilesOfMessages, inline: inlineFilesOfMessages },
  estimate: {
    bound: (model, body, bytes) => estimateChat(model, chatOf(body), bytes),
    refine: (model, body, bytes) => refineChat(model, chatOf(body), bytes),
    checkContext: (model, body) => checkChatContext(model, chatOf(body)),
    isLimitedByModel: true,
    limitMembers: ['max_tokens'],
  },
}

/** Members whose tokens are in the estimate, or that stay here. */
const PRICED_MEMBERS: ReadonlySet<string> = new Set([
  'system',
  'thinking',
  'output_config',
  'stop_sequences',
  'metadata',
])

/** Throws where a request says what cannot be translated. */
export function checkMessagesRequest(body: MessagesRequest): void {
  checkMessages(chatOf(body).messages)
}

export function countMessageTokens(body: CountTokensRequest, countTokens: (text: string) => number): number {
  const prompt = toChatPrompt(body)
  checkMessages(prompt.messages)
  return countChatPromptTokens(prompt, countTokens)
}

/** Translated once a request, however often it is looked at. */
const translations = new WeakMap<object, ChatRequest>()

function chatOf(body: MessagesRequest): ChatRequest {
  const known = translations.get(body)
  if (known !== undefined) return known
  const translated = toChatRequest(body).body
  translations.set(body, translated)
  return translated
}
