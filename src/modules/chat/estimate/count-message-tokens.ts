import { AppError } from '../../../kernel/app-error.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import { parseJson } from '../../../kernel/json/parse-json.ts'
import type { InferenceOperation, Provider, UpstreamTimeouts } from '../../../providers/provider.ts'
import { messagesNatively } from '../../../providers/wire-bridges/messages-natively.ts'
import type { CountTokensRequest } from '../../../wires/anthropic-messages/messages-request.ts'
import type { CatalogModel } from '../../catalog/catalog.ts'
import {
  filterMembers,
  type Candidate,
  type CandidateSelector,
  type Inference,
  type InferenceRequest,
} from '../../inference/inference.ts'
import { readCount } from '../../../wires/token-usage.ts'
import { countChatPromptTokens } from './count-prompt-tokens.ts'
import { MESSAGE_MEMBERS, readMessagePrompt } from '../message-operation.ts'
import { invalidAnswer } from '../../../providers/failures/upstream-error.ts'

/** After this time the gateway counts by itself. */
const TIMEOUT_MS = 10_000

interface CountOptions {
  readonly inference: Pick<Inference, 'answer'>
  readonly selector: CandidateSelector
  readonly countTokens: (text: string) => number
}

/**
 * Returns the vendor's count if the vendor has one and can be reached, because that is what it bills; otherwise our own count.
 */
export async function countMessageTokens(
  asked: InferenceRequest<CountTokensRequest>,
  { inference, selector, countTokens }: CountOptions,
): Promise<object> {
  const { caller, body, record, cancellation } = asked
  const model = selector.resolveModel(caller, body.model)
  record.model = model.id
  const prompt = readMessagePrompt(body)
  const { request, candidates } = filterMembers(asked, routesOf(selector, asked, model), MESSAGE_MEMBERS)
  const counting = candidates.filter(({ provider }) => provider.countMessageTokens !== undefined)
  const countHere = () => ({ input_tokens: countChatPromptTokens(prompt, countTokens) })
  if (counting.length === 0) return countHere()
  try {
    return await inference.answer(counting, request, async (candidate, { cancellation: stop, onSent }) => {
      const { provider, upstreamModel, timeouts } = candidate
      const answer = await countAt(provider)({
        body: request.body,
        text: request.text,
        upstreamModel,
        canReason: true,
        requestId: request.requestId,
        timeouts: hasten(timeouts),
        cancellation: stop,
        onSent,
        headers: request.headers,
      })
      if (answer.kind !== 'complete') throw invalidAnswer(provider.id, 'it streamed a count of tokens')
      return readTokenCount(provider.id, answer.payload)
    })
  } catch (error) {
    if (cancellation.isCancelled || isOfClient(error)) throw error
    return countHere()
  }
}

/** Returns no candidates if no provider is configured: the gateway can still count the prompt. */
function routesOf(
  selector: CandidateSelector,
  { caller, body }: InferenceRequest<CountTokensRequest>,
  model: CatalogModel,
): readonly Candidate[] {
  try {
    return selector.select(caller, model, body.model)
  } catch (error) {
    if (error instanceof AppError && error.code === 'provider_not_configured') return []
    throw error
  }
}

function countAt(provider: Provider): InferenceOperation<CountTokensRequest> {
  const { countMessageTokens: count } = provider
  if (count === undefined) throw new Error('a provider was asked that does not count')
  return messagesNatively(count, provider)
}

function hasten({ connectMs, firstByteMs, idleMs }: UpstreamTimeouts): UpstreamTimeouts {
  return { connectMs, firstByteMs: Math.min(firstByteMs, TIMEOUT_MS), idleMs: Math.min(idleMs, TIMEOUT_MS) }
}

/** Returns the vendor's whole answer if it has a valid count. */
function readTokenCount(provider: string, payload: Buffer): object {
  let told: unknown
  try {
    told = parseJson(payload.toString())
  } catch {
    told = null
  }
  if (!isRecord(told) || readCount(told['input_tokens']) === null)
    throw invalidAnswer(provider, 'it sent something that is not a count of tokens')
  return told
}

/** Errors that are passed on: the request itself would be refused with them, and our own count would hide that. */
const CLIENT_CODES: ReadonlySet<string> = new Set([
  'invalid_request',
  'invalid_value',
  'missing_required_parameter',
  'unsupported_parameter',
  'context_length_exceeded',
  'request_too_large',
  'prompt_blocked',
])

function isOfClient(error: unknown): boolean {
  return !(error instanceof AppError) || CLIENT_CODES.has(error.code)
}
