import type { ResponsesRequest } from '../../wires/openai-responses/responses-request.ts'
import type { CandidateSelector, InferenceRequest, PaidCall, PaidOperation } from '../inference/inference.ts'
import { labelsOf } from '../keys/keys.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { OwnFiles } from '../media/media.ts'
import { AppError } from '../../kernel/app-error.ts'
import { settleAbandonedUsage, settlePartialUsage, type AnswerContext } from './answer/answer-context.ts'
import { boundPromptTokens, outputTokensOf } from './call-candidate.ts'
import { outputTokensCovered, type WorstCase } from './estimate/estimate-cost.ts'
import { boundRequest } from './estimate/hold-worst-case.ts'
import { asksForHourCache } from './estimate/hour-cache.ts'
import { fillInFiles, leaveOutFiles, type FindClientFile } from './files/fill-in-files.ts'
import { RESPONSES_NAMING } from './files/named-files.ts'
import { RESPONSES } from './response-operation.ts'

/** What is known of a streamed response whose process died while it was made. */
export interface LostResponse {
  /** The events that a client may have read, in their order. */
  readonly events: AsyncIterable<Buffer>
}

interface ChargeLostOptions {
  readonly selector: CandidateSelector
  readonly ledger: Pick<Ledger, 'hold'>
  readonly media: OwnFiles
  readonly findFile: FindClientFile
  readonly countTokens: (text: string) => number
}

/**
 * Charges a lost response like work that was left and not read to its usage: its prompt, what was delivered, and the most that
 * can be hidden. Calls no upstream.
 */
export function chargeLost(
  options: ChargeLostOptions,
  lost: LostResponse,
): PaidOperation<ResponsesRequest, WorstCase, null> {
  const { selector, ledger } = options
  return {
    selector,
    prepare: async ({ asked, model, routes, startedMs }) => {
      const request = await withFiles(options, asked)
      const plan = boundRequest(RESPONSES.estimate.refine(model, request.body, request.bytes), request)
      // The work is done: whatever credit is missing becomes a debt.
      const charged = { model: model.id, labels: labelsOf(request.caller), atMs: startedMs }
      const asking = { ...charged, wantedNanoUsd: plan.wantedNanoUsd, leastNanoUsd: 0n }
      return { hold: await ledger.hold(request.caller, asking), request, candidates: routes, plan }
    },
    perform: async (call) => {
      const { bill, request } = call
      const { context, isBilled } = describeLost(options, call)
      const reader = RESPONSES.form.openStream(context, { isUsageAsked: false })
      for await (const event of lost.events) reader.read(event)
      const settle = isBilled ? settleAbandonedUsage : settlePartialUsage
      settle(context, reader.reportedUsage, reader.delivered)
      request.record.provider = context.provider
      request.record.outcome = 'failed'
      await bill.settle({ isDelivered: false })
      return null
    },
    // Settled above, as a failure.
    isOpen: () => true,
  }
}

/** Files are counted as they were held. A file that is gone meanwhile costs nothing. */
async function withFiles(
  { media, findFile }: Pick<ChargeLostOptions, 'media' | 'findFile'>,
  given: InferenceRequest<ResponsesRequest>,
): Promise<InferenceRequest<ResponsesRequest>> {
  const asked = await withNamedFiles(findFile, given)
  const uses = RESPONSES.files?.find(media, asked.body, { fetchesForeign: false }) ?? []
  if (uses.length === 0) return asked
  try {
    return (await RESPONSES.files?.inline(media, asked, uses)) ?? asked
  } catch (error) {
    if (error instanceof AppError && error.code !== 'service_unavailable') return asked
    throw error
  }
}

async function withNamedFiles(
  find: FindClientFile,
  asked: InferenceRequest<ResponsesRequest>,
): Promise<InferenceRequest<ResponsesRequest>> {
  const named = RESPONSES_NAMING.find(asked.body)
  if (named.length === 0) return asked
  try {
    // One lost response at a time is charged.
    return await fillInFiles(RESPONSES_NAMING, asked, { named, find, takeRoom: () => {} })
  } catch (error) {
    if (error instanceof AppError && error.code !== 'service_unavailable')
      return leaveOutFiles(RESPONSES_NAMING, asked)
    throw error
  }
}

/** It is not stored which of the candidates answered. If one of them bills work that is left, it is taken to be that one. */
function describeLost(
  { countTokens }: ChargeLostOptions,
  { request, model, candidates, bill, startedMs, plan }: PaidCall<ResponsesRequest, WorstCase>,
): { context: AnswerContext; isBilled: boolean } {
  const { body, record, requestId } = request
  const billing = candidates.find(({ provider }) => provider.onDisconnect !== 'stops')
  const isBilled = billing !== undefined
  const isSeen = billing?.provider.onDisconnect === 'streams stop' && !model.capabilities.has('reasoning')
  const provider = (billing ?? candidates[0])?.provider.id ?? ''
  // An account that could not pay for the longest answer asked for a shorter one.
  const longest = { ...plan, outputTokensMax: outputTokensCovered(plan, bill.heldNanoUsd) }
  const context: AnswerContext = {
    provider,
    model,
    requestedModel: body.model,
    requestId,
    record,
    bill,
    startedMs,
    countPromptTokens: () =>
      isBilled
        ? RESPONSES.countHeldTokens(model, body, countTokens)
        : RESPONSES.countOwnTokens(model, body, countTokens),
    boundPromptTokens: () => boundPromptTokens(RESPONSES, request, { model, countTokens }),
    countTokens,
    audioOf: () => RESPONSES.audioOf(body),
    asksForHourCache: () => asksForHourCache(request.text),
    boundOutputTokens: () => (isSeen ? 0 : outputTokensOf(longest)),
  }
  return { context, isBilled }
}
