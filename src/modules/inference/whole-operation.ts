import { AppError } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import { isRecord } from '../../kernel/is-record.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import { parseJson } from '../../kernel/parse-json.ts'
import { readErrorPayload } from '../../providers/error-payload.ts'
import type { InferenceOperation, Provider } from '../../providers/provider.ts'
import { UpstreamError } from '../../providers/upstream-error.ts'
import type { CatalogModel } from '../catalog/catalog.ts'
import type { Hold } from '../ledger/ledger.ts'
import type { AnswerWhole } from './answer-whole.ts'
import type { InferenceRequest } from './inference-request.ts'
import type { WholeAnswer } from './inference-result.ts'
import type { ModelChoice, PaidCall, PaidOperation } from './make-paid-call.ts'
import { screenMembers } from './screen-members.ts'
import type { Candidate, CandidateSelector } from './select-candidates.ts'

/** What differs from one operation to the next where an answer is one JSON document. */
interface WholeDescription<Body> {
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

/** An operation that answers with one JSON document. */
type WholeOperation<Body> = PaidOperation<Body, undefined, WholeAnswer>

export function createWholeOperation<Body extends ModelChoice>(
  { answer }: { readonly answer: AnswerWhole },
  description: WholeDescription<Body>,
): WholeOperation<Body> {
  return {
    selector: description.selector,
    prepare: ({ asked, model, routes, startedMs }) => {
      const { request, candidates } = screenMembers(asked, routes)
      const prepare = (hold: Hold) => ({ hold, request, candidates, plan: undefined })
      const holding = description.hold(model, request, startedMs)
      return holding instanceof Promise ? holding.then(prepare) : prepare(holding)
    },
    perform: async (call) => {
      const payload = await answer(call.candidates, call.request, (candidate, cancellation, onSent) =>
        askForWhole(description, call, { candidate, cancellation, onSent }),
      )
      return { kind: 'complete', payload }
    },
    chargeUnread: ({ bill, model, request }) => bill.charge(description.priceUnread(model, request)),
  }
}

interface Asked {
  readonly candidate: Candidate
  readonly cancellation: Cancellation
  readonly onSent: () => void
}

async function askForWhole<Body>(
  { of, finish }: WholeDescription<Body>,
  { model, requestedModel, request, bill }: PaidCall<Body>,
  { candidate, cancellation, onSent }: Asked,
): Promise<WholeAnswer['payload']> {
  const perform = of(candidate.provider)
  if (!perform) throw notServed(model.id)
  const answer = await perform({
    body: request.body,
    text: request.text,
    upstreamModel: candidate.upstreamModel,
    canReason: false,
    requestId: request.requestId,
    timeouts: candidate.timeouts,
    cancellation,
    onSent,
  })
  const provider = candidate.provider.id
  if (answer.kind !== 'complete') throw invalidAnswer(provider, 'it answered with a stream')
  const charge = (priceNanoUsd: NanoUsd): NanoUsd => bill.charge(priceNanoUsd)
  const question = { provider, model, requestedModel, request, charge }
  const payload = finish(answer.payload, question)
  if (bill.covering === null) return payload
  // More was used than was held: the answer is written anew with what it costs.
  await bill.covering
  return finish(answer.payload, question)
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
