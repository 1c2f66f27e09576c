import type { ChatRequest } from '../../wires/openai-chat/chat-request.ts'
import { refuseForeignState, serverFeaturesOf } from '../../wires/openai-responses/response-features.ts'
import { nativeOf } from '../../providers/native-wire.ts'
import { responsesNatively } from '../../providers/wire-bridges/responses-natively.ts'
import { responsesThroughChat } from '../../providers/wire-bridges/responses-through-chat.ts'
import type {
  CountedResponsesRequest,
  ResponsesRequest,
} from '../../wires/openai-responses/responses-request.ts'
import { toShownConversation } from '../../wires/openai-responses/response-snapshot.ts'
import { toChatRequest } from '../../wires/openai-responses/to-chat-request.ts'
import { toReadableRequest } from '../../wires/openai-responses/to-readable-request.ts'
import type { Operation } from './call-candidate.ts'
import { checkChatContext } from './estimate/check-context.ts'
import { checkMessages } from './check-messages.ts'
import {
  countChatPromptTokens,
  countHeldPromptTokens,
  countOwnPromptTokens,
} from './estimate/count-prompt-tokens.ts'
import { isMeasured } from './estimate/estimate-media-tokens.ts'
import { estimateChat, refineChat } from './estimate/estimate-cost.ts'
import { findFilesOfResponses, inlineFilesOfResponses } from './files/inline-response-files.ts'
import { isPromptCounted } from './estimate/is-prompt-counted.ts'
import { createReading } from './read-as-chat.ts'
import { RESPONSE_FORM } from './answer/response-form.ts'
import { filterByAudio } from './audio/filter-by-audio.ts'
import { filterByWire } from './filter-by-wire.ts'
import { audioOfChat } from './audio/audio-tokens.ts'

const WIRE = 'openai-responses'

/** A request of the Responses wire is estimated and counted through its chat translation, even if it is forwarded natively. */
export const RESPONSES: Operation<ResponsesRequest> = {
  form: RESPONSE_FORM,
  of: (provider, upstreamModel) => {
    const { id, chat, takenMembers } = provider
    const send = nativeOf(WIRE, provider, upstreamModel)
    if (send === undefined) return chat && responsesThroughChat(id, chat)
    return responsesNatively(send, { hasSearch: takenMembers?.has('web_search') === true })
  },
  countOwnTokens: (model, body, countTokens) => countOwnPromptTokens(model, chatOf(body), countTokens),
  countHeldTokens: (model, body, countTokens) => countHeldPromptTokens(model, chatOf(body), countTokens),
  isMeasured: (body) => isPromptCounted(body) && isMeasured(chatOf(body)),
  pricedMembers: () => PRICED_MEMBERS,
  filterByAudio: (model, body, candidates) => filterByAudio(model, chatOf(body), candidates),
  filterByWire: (body, candidates) => filterByWire(WIRE, readingOf(body), candidates),
  audioOf: (body) => audioOfChat(chatOf(body)),
  // Upstreams are asked to store nothing and do not know what the gateway stored.
  ownMembers: ({ store, previous_response_id: previousId, background, conversation }) => ({
    ...toShownConversation(conversation),
    store: store === true,
    previous_response_id: previousId ?? null,
    background: background === true,
  }),
  files: { find: findFilesOfResponses, inline: inlineFilesOfResponses },
  estimate: {
    bound: (model, body, bytes) => estimateChat(model, chatOf(body), bytes),
    refine: (model, body, bytes) => refineChat(model, chatOf(body), bytes),
    checkContext: (model, body) => checkChatContext(model, chatOf(body)),
    isLimitedByModel: true,
    limitMembers: ['max_output_tokens'],
  },
}

/** Members whose tokens the estimate includes, or that are not sent to an upstream. */
const PRICED_MEMBERS: ReadonlySet<string> = new Set([
  'instructions',
  'reasoning',
  'text',
  'include',
  'store',
  'previous_response_id',
  'conversation',
  'background',
  'truncation',
  'max_output_tokens',
  'prompt_cache_key',
  'safety_identifier',
  'metadata',
])

/** Throws for invalid messages, and for references to state that is stored at a vendor. */
export function checkResponsesRequest(body: ResponsesRequest): void {
  refuseForeignState(body)
  checkMessages(chatOf(body).messages)
}

export function countResponseTokens(
  counted: CountedResponsesRequest,
  countTokens: (text: string) => number,
): number {
  // The count is the same for all models.
  const body = { ...counted, model: counted.model ?? '' }
  checkResponsesRequest(body)
  return countChatPromptTokens(chatOf(body), countTokens)
}

const readingOf = createReading<ResponsesRequest>({
  translate: (request) => toChatRequest(request).body,
  toReadable: toReadableRequest,
  featuresOf: serverFeaturesOf,
})

function chatOf(body: ResponsesRequest): ChatRequest {
  return readingOf(body).chat
}
