import type { ChatRequest } from '../../providers/chat-wire.ts'
import { responsesThroughChat } from '../../wires/openai-responses/responses-through-chat.ts'
import type { ResponsesRequest } from '../../wires/openai-responses/responses-request.ts'
import { toChatRequest } from '../../wires/openai-responses/to-chat-request.ts'
import type { Operation } from './call-candidate.ts'
import { checkChatContext } from './check-context.ts'
import { checkMessages } from './check-messages.ts'
import { countChatPromptTokens } from './count-prompt-tokens.ts'
import { estimateChat, refineChat } from './estimate-cost.ts'
import { RESPONSE_FORM } from './response-form.ts'
import { screenSound } from './screen-sound.ts'
import { soundOfChat } from './sound-tokens.ts'

/** A request of the Responses wire costs and is counted as its translation does. */
export const RESPONSES: Operation<ResponsesRequest> = {
  form: RESPONSE_FORM,
  of: ({ id, chat }) => chat && responsesThroughChat(id, chat),
  countPromptTokens: (body, countTokens) => countChatPromptTokens(chatOf(body), countTokens),
  pricedMembers: () => PRICED_MEMBERS,
  screenSound: (model, body, candidates) => screenSound(model, chatOf(body), candidates),
  soundOf: (body) => soundOfChat(chatOf(body)),
  estimate: {
    bound: (model, body, bytes) => estimateChat(model, chatOf(body), bytes),
    refine: (model, body, bytes) => refineChat(model, chatOf(body), bytes),
    checkContext: (model, body) => checkChatContext(model, chatOf(body)),
    isLimitedByModel: true,
    limitMembers: ['max_output_tokens'],
  },
}

/** Members whose tokens are in the estimate, or that stay here. */
const PRICED_MEMBERS: ReadonlySet<string> = new Set([
  'instructions',
  'reasoning',
  'text',
  'include',
  'store',
  'previous_response_id',
  'background',
  'truncation',
  'max_output_tokens',
  'prompt_cache_key',
  'safety_identifier',
  'metadata',
])

/** Throws where a request says what cannot be translated. */
export function checkResponsesRequest(body: ResponsesRequest): void {
  checkMessages(chatOf(body).messages)
}

export function countResponseTokens(body: ResponsesRequest, countTokens: (text: string) => number): number {
  checkResponsesRequest(body)
  return countChatPromptTokens(chatOf(body), countTokens)
}

/** Translated once a request, however often it is looked at. */
const translations = new WeakMap<object, ChatRequest>()

function chatOf(body: ResponsesRequest): ChatRequest {
  const known = translations.get(body)
  if (known !== undefined) return known
  const translated = toChatRequest(body).body
  translations.set(body, translated)
  return translated
}
