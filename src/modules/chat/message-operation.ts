import type { ChatRequest } from '../../wires/openai-chat/chat-request.ts'
import { BILLING_LINE_TOKENS_MAX, hasBillingLine } from '../../wires/anthropic-messages/billing-line.ts'
import { refuseForeignState, serverFeaturesOf } from '../../wires/anthropic-messages/message-features.ts'
import { nativeOf } from '../../providers/native-wire.ts'
import { messagesNatively } from '../../providers/wire-bridges/messages-natively.ts'
import { messagesThroughChat } from '../../providers/wire-bridges/messages-through-chat.ts'
import type { CountTokensRequest, MessagesRequest } from '../../wires/anthropic-messages/messages-request.ts'
import { toChatRequest, toChatPrompt } from '../../wires/anthropic-messages/to-chat-request.ts'
import { toReadableRequest } from '../../wires/anthropic-messages/to-readable-request.ts'
import type { Operation } from './call-candidate.ts'
import { checkChatContext } from './estimate/check-context.ts'
import { checkMessages } from './check-messages.ts'
import { countHeldPromptTokens, countOwnPromptTokens } from './estimate/count-prompt-tokens.ts'
import { isMeasured } from './estimate/estimate-media-tokens.ts'
import { isPromptCounted } from './estimate/is-prompt-counted.ts'
import { estimateChat, refineChat } from './estimate/estimate-cost.ts'
import { findFilesOfMessages, inlineFilesOfMessages } from './files/inline-message-files.ts'
import { MESSAGE_FORM } from './answer/message-form.ts'
import { createReading, readAsChat } from './read-as-chat.ts'
import { filterByAudio } from './audio/filter-by-audio.ts'
import { filterByWire } from './filter-by-wire.ts'
import { audioOfChat } from './audio/audio-tokens.ts'

const WIRE = 'anthropic-messages'

/** A request of Anthropic's wire is estimated and counted through its chat translation, even if it is forwarded natively. */
export const MESSAGES: Operation<MessagesRequest> = {
  form: MESSAGE_FORM,
  of: (provider, upstreamModel) => {
    const { id, chat } = provider
    const send = nativeOf(WIRE, provider, upstreamModel)
    return send ? messagesNatively(send, provider) : chat && messagesThroughChat(id, chat)
  },
  countOwnTokens: (model, body, countTokens) => countOwnPromptTokens(model, chatOf(body), countTokens),
  countHeldTokens: (model, body, countTokens) => countHeldPromptTokens(model, heldChatOf(body), countTokens),
  isMeasured: (body) => isPromptCounted(body) && isMeasured(chatOf(body)),
  pricedMembers: () => MESSAGE_MEMBERS,
  filterByAudio: (model, body, candidates) => filterByAudio(model, chatOf(body), candidates),
  filterByWire: (body, candidates) => filterByWire(WIRE, readingOf(body), candidates),
  audioOf: (body) => audioOfChat(chatOf(body)),
  files: { find: findFilesOfMessages, inline: inlineFilesOfMessages },
  estimate: {
    bound: (model, body, bytes) => estimateChat(model, heldChatOf(body), bytes),
    refine: (model, body, bytes) => refineChat(model, heldChatOf(body), bytes),
    checkContext: (model, body) => checkChatContext(model, chatOf(body)),
    isLimitedByModel: true,
    limitMembers: ['max_tokens'],
  },
}

/** Members whose tokens the estimate includes, or that are not sent to an upstream. */
export const MESSAGE_MEMBERS: ReadonlySet<string> = new Set([
  'system',
  'thinking',
  'output_config',
  'stop_sequences',
  'metadata',
])

/** Throws for invalid messages, for members that change the price, and for references to state that is stored at a vendor. */
export function checkMessagesRequest(body: MessagesRequest): void {
  refuseForeignState(body)
  checkMessages(chatOf(body).messages)
}

/** Returns the prompt in chat form, for the gateway's own count. */
export function readMessagePrompt(body: CountTokensRequest): ChatRequest {
  refuseForeignState(body)
  const prompt = readAsChat(body, toChatPrompt, toReadableRequest).chat
  checkMessages(prompt.messages)
  return prompt
}

const readingOf = createReading<MessagesRequest>({
  translate: (request) => toChatRequest(request).body,
  toReadable: toReadableRequest,
  featuresOf: serverFeaturesOf,
})

/** The same for what is held: the upstream may be one that reads the billing line. */
function heldChatOf(body: MessagesRequest): ChatRequest {
  const chat = chatOf(body)
  return hasBillingLine(body.system) ? { ...chat, messages: [LINE_AS_HELD, ...chat.messages] } : chat
}

/** Always the same, so that the same prompt is held at the same cost. Each of its characters is a token. */
const LINE_AS_HELD: ChatRequest['messages'][number] = {
  role: 'system',
  content: '~;'.repeat(BILLING_LINE_TOKENS_MAX / 2),
}

function chatOf(body: MessagesRequest): ChatRequest {
  return readingOf(body).chat
}
