import type { Clock } from '../../kernel/clock.ts'
import type { ChatRequest } from '../../wires/openai-chat/chat-request.ts'
import type { CompletionRequest } from '../../wires/openai-completions/completion-request.ts'
import type { CountTokensRequest, MessagesRequest } from '../../wires/anthropic-messages/messages-request.ts'
import type {
  CountedResponsesRequest,
  ResponsesRequest,
} from '../../wires/openai-responses/responses-request.ts'
import { completionThroughChat } from '../../providers/wire-bridges/completion-through-chat.ts'
import type { CatalogModel } from '../catalog/catalog.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { labelsOf, type Caller } from '../keys/keys.ts'
import type { InlinedUse, OwnFiles } from '../media/media.ts'
import {
  attemptRoutes,
  filterMembers,
  type Candidate,
  type Inference,
  type InferenceRequest,
  type InferenceResult,
  type PaidOperation,
  type PreparedCall,
  type ResolvedCall,
} from '../inference/inference.ts'
import { CHAT_FORM, COMPLETION_FORM } from './answer/answer-form.ts'
import { callCandidate, type Operation, type StreamableRequest } from './call-candidate.ts'
import { chargeLost, type LostResponse } from './charge-lost-response.ts'
import { checkChatContext, checkCompletionContext } from './estimate/check-context.ts'
import { checkChatRequest } from './check-messages.ts'
import { countMessageTokens } from './estimate/count-message-tokens.ts'
import {
  countOwnPromptTokens,
  countCompletionPromptTokens,
  countHeldCompletionTokens,
  countHeldPromptTokens,
} from './estimate/count-prompt-tokens.ts'
import { isMeasured } from './estimate/estimate-media-tokens.ts'
import { isPromptCounted } from './estimate/is-prompt-counted.ts'
import { estimateChat, estimateCompletion, refineChat, refineCompletion } from './estimate/estimate-cost.ts'
import { CHAT_LIMITS, holdWorstCase, type CoveredRequest } from './estimate/hold-worst-case.ts'
import { fillInFiles, leaveOutFiles, type FileNaming, type FindClientFile } from './files/fill-in-files.ts'
import { FileRoom, inFileRoom } from './files/file-room.ts'
import { findFilesOfChat, inlineFilesOfChat } from './files/inline-own-files.ts'
import { CHAT_NAMING, MESSAGES_NAMING, RESPONSES_NAMING } from './files/named-files.ts'
import { affinityOf } from './prompt-affinity.ts'
import { checkResponsesRequest, countResponseTokens, RESPONSES } from './response-operation.ts'
import { pricedAudioMembers, filterByAudio } from './audio/filter-by-audio.ts'
import { NO_AUDIO, audioOfChat } from './audio/audio-tokens.ts'
import { checkMessagesRequest, MESSAGES } from './message-operation.ts'

export { checkMessages } from './check-messages.ts'

export type { FindClientFile } from './files/fill-in-files.ts'

export interface Chat {
  chat(request: InferenceRequest<ChatRequest>): Promise<InferenceResult>
  completion(request: InferenceRequest<CompletionRequest>): Promise<InferenceResult>
  messages(request: InferenceRequest<MessagesRequest>): Promise<InferenceResult>
  responses(request: InferenceRequest<ResponsesRequest>): Promise<InferenceResult>
  /** Returns `{input_tokens}` of a prompt. Free of charge. */
  countMessageTokens(request: InferenceRequest<CountTokensRequest>): Promise<object>
  /** Throws the errors that do not need an upstream: unknown model, invalid request, no credit at all. */
  checkResponse(request: InferenceRequest<ResponsesRequest>): Promise<void>
  /** Charges a streamed response that its process could not finish, under its request's id. Calls no upstream. */
  chargeLostResponse(request: InferenceRequest<ResponsesRequest>, lost: LostResponse): Promise<void>
  /** Returns the tokens of the prompt, as far as they can be counted without the vendor. */
  countResponseTokens(caller: Caller, body: CountedResponsesRequest): number
}

interface ChatOptions {
  readonly inference: Inference
  readonly ledger: Pick<Ledger, 'hold' | 'holdAtOnce' | 'knownBalanceNanoUsd'>
  readonly media: OwnFiles
  readonly findFile: FindClientFile
  readonly clock: Clock
  readonly countTokens: (text: string) => number
}

const CHAT: Operation<ChatRequest> = {
  form: CHAT_FORM,
  of: (provider) => provider.chat,
  countOwnTokens: countOwnPromptTokens,
  countHeldTokens: countHeldPromptTokens,
  isMeasured: (body) => isPromptCounted(body) && isMeasured(body),
  pricedMembers: pricedAudioMembers,
  filterByAudio,
  audioOf: audioOfChat,
  files: { find: findFilesOfChat, inline: inlineFilesOfChat },
  estimate: {
    bound: estimateChat,
    refine: refineChat,
    checkContext: checkChatContext,
    isLimitedByModel: true,
    limitMembers: CHAT_LIMITS,
  },
}

const COMPLETION: Operation<CompletionRequest> = {
  form: COMPLETION_FORM,
  of: (provider) =>
    provider.completion ?? (provider.chat && completionThroughChat(provider.id, provider.chat)),
  countOwnTokens: (_model, body, countTokens) => countCompletionPromptTokens(body, countTokens),
  countHeldTokens: (_model, body, countTokens) => countHeldCompletionTokens(body, countTokens),
  isMeasured: () => true,
  pricedMembers: () => COMPLETION_MEMBERS,
  filterByAudio: (_model, _body, candidates) => candidates,
  audioOf: () => NO_AUDIO,
  // Without a limit in the request, OpenAI's default applies. Not every upstream has it, so the limit is always sent.
  estimate: {
    bound: estimateCompletion,
    refine: refineCompletion,
    checkContext: checkCompletionContext,
    isLimitedByModel: false,
    limitMembers: CHAT_LIMITS,
  },
}

const COMPLETION_MEMBERS: ReadonlySet<string> = new Set(['best_of'])

/** Whether an answer of this upstream has to be read to its usage if its client leaves. */
function isBilledAfterDisconnect({ provider }: Candidate): boolean {
  return provider.onDisconnect !== 'stops'
}

const NO_FILES: readonly InlinedUse[] = []

type Filtered<Body> = ReturnType<typeof filterMembers<Body & object, Candidate>>

/** An operation whose requests may name files by their ids. */
interface NamingOperation<Body> {
  readonly naming: FileNaming<Body>
  readonly check: (body: Body) => void
  readonly estimate: Operation<Body>['estimate']
}

const NAMING = {
  chat: { naming: CHAT_NAMING, check: checkChatRequest, estimate: CHAT.estimate },
  messages: { naming: MESSAGES_NAMING, check: checkMessagesRequest, estimate: MESSAGES.estimate },
  responses: { naming: RESPONSES_NAMING, check: checkResponsesRequest, estimate: RESPONSES.estimate },
}

export function createChat(options: ChatOptions): Chat {
  const { inference, ledger, media, clock } = options
  const selector = inference.selectorFor(['llm'], ({ chat }) => chat !== undefined)
  const room = new FileRoom()

  const requireCredit = async <Body>(
    estimate: Operation<Body>['estimate'],
    { caller, cancellation, body, bytes }: InferenceRequest<Body>,
    model: CatalogModel,
    startedMs: number,
  ): Promise<void> => {
    if (estimate.bound(model, body, bytes).leastNanoUsd === 0n) return
    const charged = { model: model.id, labels: labelsOf(caller), atMs: startedMs }
    const hold = await ledger.hold(caller, { ...charged, wantedNanoUsd: 1n, leastNanoUsd: 1n, cancellation })
    hold.release()
  }

  const fillIn = async <Body extends StreamableRequest>(
    { files, estimate }: Operation<Body>,
    request: InferenceRequest<Body>,
    { uses, model, startedMs }: ResolvedCall<Body> & { readonly uses: readonly InlinedUse[] },
  ): Promise<InferenceRequest<Body>> => {
    // Check the balance before reading files.
    await requireCredit(estimate, request, model, startedMs)
    return files?.inline(media, request, uses) ?? request
  }

  const hold = <Body extends StreamableRequest>(
    { filterByWire, filterByAudio, estimate }: Operation<Body>,
    { model, startedMs }: ResolvedCall<Body>,
    { request, candidates: accepting }: Filtered<Body>,
  ): PreparedCall<Body> | Promise<PreparedCall<Body>> => {
    const inWire = filterByWire?.(request.body, accepting) ?? accepting
    const candidates = filterByAudio(model, request.body, inWire)
    if (model.capabilities.has('reasoning') && candidates.some(isBilledAfterDisconnect))
      inference.drains.requireRoom(request.caller.accountId)
    const prepare = (covered: CoveredRequest<Body>): PreparedCall<Body> => ({
      hold: covered.hold,
      request: covered.request,
      candidates,
      plan: undefined,
    })
    const covering = holdWorstCase(ledger, estimate, model, request, startedMs)
    return covering instanceof Promise ? covering.then(prepare) : prepare(covering)
  }

  const pay = <Body extends StreamableRequest>(
    operation: Operation<Body>,
  ): PaidOperation<Body, undefined, InferenceResult> => ({
    selector,
    affinityOf,
    prepare: (resolved) => {
      const { asked, model, routes } = resolved
      const filtered = filterMembers(asked, routes, operation.pricedMembers(model, asked.body))
      // Engines in the operator's network get no address: they would fetch it from where they are.
      const fetchesForeign = filtered.candidates.some(({ provider }) => provider.isOwnServer === true)
      const uses = operation.files?.find(media, asked.body, { fetchesForeign }) ?? NO_FILES
      if (uses.length === 0) return hold(operation, resolved, filtered)
      return fillIn(operation, filtered.request, { ...resolved, uses }).then((request) =>
        hold(operation, resolved, { ...filtered, request }),
      )
    },
    perform: (call) =>
      attemptRoutes({
        candidates: call.candidates,
        accountId: call.request.caller.accountId,
        attempt: (candidate) => callCandidate(candidate, operation, call, options),
        cancellation: call.request.cancellation,
      }),
    isOpen: ({ kind }) => kind === 'stream',
  })

  const paid = {
    chat: pay(CHAT),
    completion: pay(COMPLETION),
    messages: pay(MESSAGES),
    responses: pay(RESPONSES),
  }

  /** Runs the work with the files that a request names by their ids, read with the rights of its caller. */
  const withFiles = <Body extends StreamableRequest, Result>(
    { naming, check, estimate }: NamingOperation<Body>,
    request: InferenceRequest<Body>,
    work: (request: InferenceRequest<Body>) => Promise<Result>,
  ): Promise<Result> => {
    const named = naming.find(request.body)
    if (named.length === 0) {
      check(request.body)
      return work(request)
    }
    const fill = async (
      takeRoom: (textBytes: number) => void | Promise<void>,
    ): Promise<InferenceRequest<Body>> => {
      // Everything else is checked, and the balance, before a file is read.
      const rest = leaveOutFiles(naming, request)
      check(rest.body)
      const model = selector.resolveModel(request.caller, request.body.model)
      request.record.model = model.id
      await requireCredit(estimate, rest, model, clock.nowMs())
      const filled = await fillInFiles(naming, request, { named, find: options.findFile, takeRoom })
      check(filled.body)
      return filled
    }
    return inFileRoom(room, request, fill, work)
  }

  return {
    chat: (request) => withFiles(NAMING.chat, request, (filled) => inference.pay(paid.chat, filled)),
    completion: (request) => inference.pay(paid.completion, request),
    messages: (request) =>
      withFiles(NAMING.messages, request, (filled) => inference.pay(paid.messages, filled)),
    responses: (request) =>
      withFiles(NAMING.responses, request, (filled) => inference.pay(paid.responses, filled)),
    countMessageTokens: (request) =>
      countMessageTokens(request, { inference, selector, countTokens: options.countTokens }),
    checkResponse: async (asked) => {
      const { caller, record } = asked
      const model = selector.resolveModel(caller, asked.body.model)
      record.model = model.id
      await withFiles(NAMING.responses, asked, async (request) => {
        selector.select(caller, model, request.body.model)
        await requireCredit(RESPONSES.estimate, request, model, clock.nowMs())
      })
    },
    chargeLostResponse: async (request, lost) => {
      // The work is done: what the key and its project may use today does not matter.
      const caller = { ...request.caller, allowedModels: null, project: null }
      await inference.pay(chargeLost({ ...options, selector }, lost), { ...request, caller })
    },
    countResponseTokens: (caller, body) => {
      if (typeof body.model === 'string') selector.resolveModel(caller, body.model)
      return countResponseTokens(body, options.countTokens)
    },
  }
}
