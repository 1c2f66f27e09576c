import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/app-error.ts'
import { isRecord } from '../../kernel/is-record.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import { parseJson } from '../../kernel/parse-json.ts'
import { readErrorPayload } from '../../providers/error-payload.ts'
import type { InferenceOperation, Provider } from '../../providers/provider.ts'
import { UpstreamError } from '../../providers/upstream-error.ts'
import type { CatalogModel } from '../catalog/catalog.ts'
import type { Hold } from '../ledger/ledger.ts'
import { AbandonedWork } from './drains.ts'
import type { InferenceRequest } from './inference-request.ts'
import type { RequestBill } from './request-bill.ts'
import { screenMembers } from './screen-members.ts'
import type { Candidate, CandidateSelector } from './select-candidates.ts'

/** An answer of one JSON document, as it goes out: its text, or its bytes in pieces. */
export interface WholeAnswer {
  readonly kind: 'complete'
  readonly payload: string | readonly Buffer[]
}

/** What differs from one operation to the next where an answer is one JSON document. */
export interface WholeOperation<Body> {
  readonly selector: CandidateSelector
  readonly of: (provider: Provider) => InferenceOperation<Body> | undefined
  /** Checks the request against the model, and sets aside what it can cost at most. */
  readonly hold: (
    model: CatalogModel,
    request: InferenceRequest<Body>,
    startedMs: number,
  ) => Hold | Promise<Hold>
  /** Turns an upstream's answer into ours and meters it. Throws an `UpstreamError` for what is no answer. */
  readonly finish: (payload: Buffer, question: WholeQuestion<Body>) => WholeAnswer['payload']
  /** What an answer costs that a vendor worked on and nobody read: the client left, and it took too long. */
  readonly priceUnread: (model: CatalogModel, request: InferenceRequest<Body>) => NanoUsd
}

/** What was asked, for those who make the answer. */
export interface WholeQuestion<Body> {
  readonly provider: string
  readonly model: CatalogModel
  /** The id the client asked for, which may be an alias; that of the catalog where it named none. */
  readonly requestedModel: string
  readonly request: InferenceRequest<Body>
  /** Notes what the answer costs, which is never more than is held. To be called once the answer is known to be good. */
  charge(priceNanoUsd: NanoUsd): NanoUsd
}

/** How upstreams are asked and money is taken. */
export interface Answering {
  /** The money of one request, out of a hold on the ledger. */
  openBill(hold: Hold, request: InferenceRequest<unknown>, startedMs: number): RequestBill
  /** Tries the candidates until one has answered as a whole. Throws an `AppError` when none does. */
  answer<Answer>(
    candidates: readonly Candidate[],
    request: InferenceRequest<unknown>,
    perform: (candidate: Candidate, cancellation: Cancellation, onSent: () => void) => Promise<Answer>,
  ): Promise<Answer>
}

/** From the model's name to the charge: nobody is asked before credit is held, nothing is charged without an answer. */
export async function serveAtOnce<Body extends { readonly model?: string | null }>(
  inference: Answering,
  clock: Clock,
  operation: WholeOperation<Body>,
  asked: InferenceRequest<Body>,
): Promise<WholeAnswer> {
  const { caller, record, cancellation } = asked
  const startedMs = clock.nowMs()
  const model = operation.selector.resolveModel(caller, asked.body.model)
  record.model = model.id
  const requestedModel = asked.body.model ?? model.id

  let bill: RequestBill | null = null
  const charge = (priceNanoUsd: NanoUsd): NanoUsd => {
    return bill?.charge(priceNanoUsd) ?? 0n
  }
  try {
    const routes = operation.selector.select(caller, model, requestedModel)
    const { request, candidates } = screenMembers(asked, routes)
    const holding = operation.hold(model, request, startedMs)
    const hold = holding instanceof Promise ? await holding : holding
    bill = inference.openBill(hold, request, startedMs)
    const payload = await inference.answer(candidates, request, async (candidate, work, onSent) => {
      const perform = operation.of(candidate.provider)
      if (!perform) throw notServed(model.id)
      const answer = await perform({
        body: request.body,
        text: request.text,
        upstreamModel: candidate.upstreamModel,
        canReason: false,
        requestId: request.requestId,
        timeouts: candidate.timeouts,
        cancellation: work,
        onSent,
      })
      const provider = candidate.provider.id
      if (answer.kind !== 'complete') throw invalidAnswer(provider, 'it answered with a stream')
      const wholeQuestion = { provider, model, requestedModel, request, charge }
      const payload = operation.finish(answer.payload, wholeQuestion)
      const covering = bill?.covering ?? null
      if (covering === null) return payload
      // More was used than was held: the answer is written anew with what it costs.
      await covering
      return operation.finish(answer.payload, wholeQuestion)
    })
    record.outcome = cancellation.isCancelled ? 'disconnected' : 'completed'
    await bill.settle({ isDelivered: cancellation.isCancelled })
    return { kind: 'complete', payload }
  } catch (error) {
    record.outcome = cancellation.isCancelled ? 'disconnected' : 'failed'
    if (error instanceof AbandonedWork && bill !== null) {
      charge(operation.priceUnread(model, asked))
      await bill.settle({ isDelivered: true })
    }
    bill?.release()
    throw error
  }
}

/** An upstream's answer, parsed, and the list that is the point of it. */
interface ParsedPayload {
  readonly members: Record<string, unknown>
  readonly list: readonly Record<string, unknown>[]
}

/** Throws an `UpstreamError` when it is an error or has no such list. */
export function parsePayload(provider: string, payload: Buffer, listName: string): ParsedPayload {
  let members: unknown
  try {
    members = parseJson(payload.toString())
  } catch {
    throw invalidAnswer(provider, 'it sent something that is not JSON')
  }
  if (!isRecord(members)) throw invalidAnswer(provider, 'it sent something that is not a JSON object')
  const list = members[listName]
  if (Array.isArray(list) && list.every(isRecord)) return { members, list }
  throw readErrorPayload(provider, members) ?? invalidAnswer(provider, `it sent no ${listName}`)
}

export function invalidAnswer(provider: string, what: string): UpstreamError {
  return new UpstreamError(`${provider}: ${what}`, { failure: 'invalid_answer', provider })
}

function notServed(modelId: string): AppError {
  return new AppError('unsupported_parameter', `'${modelId}' cannot serve this operation.`, {
    param: 'model',
  })
}
