import { AppError } from '../../kernel/app-error.ts'
import { isRecord } from '../../kernel/is-record.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import { parseJson } from '../../kernel/json/parse-json.ts'
import { readErrorPayload } from '../../providers/failures/error-payload.ts'
import type { InferenceOperation, Provider } from '../../providers/provider.ts'
import { invalidAnswer } from '../../providers/failures/upstream-error.ts'
import type { CatalogModel, Counted } from '../catalog/catalog.ts'
import type { Hold } from '../ledger/ledger.ts'
import type { AnswerWhole, UpstreamCall } from './answer-whole.ts'
import type { InferenceRequest } from './inference-request.ts'
import type { WholeAnswer } from './inference-result.ts'
import type { ModelChoice, PaidCall, PaidOperation } from './payment/make-paid-call.ts'
import { filterMembers } from './attempts/filter-members.ts'
import type { Candidate, CandidateSelector } from './attempts/select-candidates.ts'

/** What differs between operations whose answer is one JSON document. */
interface WholeDescription<Body> {
  readonly selector: CandidateSelector
  readonly of: (provider: Provider) => InferenceOperation<Body> | undefined
  /** Checks the request against the model, and holds the maximum cost. */
  readonly hold: (
    model: CatalogModel,
    request: InferenceRequest<Body>,
    startedMs: number,
  ) => Hold | Promise<Hold>
  /** Turns an upstream's answer into ours and meters it. Throws an `UpstreamError` if it is not a valid answer. */
  readonly finish: (payload: Buffer, question: WholeQuestion<Body>) => WholeAnswer['payload']
  /** The price of billed work that was not read because the client left and it took too long. */
  readonly priceUnread: (model: CatalogModel, request: InferenceRequest<Body>) => PricedCount
}

/** A price, and what was counted for it. */
export interface PricedCount {
  readonly priceNanoUsd: NanoUsd
  readonly counted: Counted
}

/** The request, for the code that builds the answer. */
export interface WholeQuestion<Body> {
  readonly provider: string
  readonly model: CatalogModel
  /** The id the client asked for, which may be an alias. The catalog's id if the client named none. */
  readonly requestedModel: string
  readonly request: InferenceRequest<Body>
  /** Notes the answer's cost, at most what is held. Call it once the answer is known to be valid. */
  charge(priced: PricedCount): NanoUsd
}

type WholeOperation<Body> = PaidOperation<Body, undefined, WholeAnswer>

export function createWholeOperation<Body extends ModelChoice>(
  { answer }: { readonly answer: AnswerWhole },
  description: WholeDescription<Body>,
): WholeOperation<Body> {
  return {
    selector: description.selector,
    prepare: ({ asked, model, routes, startedMs }) => {
      const { request, candidates } = filterMembers(asked, routes)
      const prepare = (hold: Hold) => ({ hold, request, candidates, plan: undefined })
      const holding = description.hold(model, request, startedMs)
      return holding instanceof Promise ? holding.then(prepare) : prepare(holding)
    },
    perform: async (call) => {
      const payload = await answer(call.candidates, call.request, (candidate, upstream) =>
        askForWhole(description, call, { ...upstream, candidate }),
      )
      return { kind: 'complete', payload }
    },
    chargeUnread: ({ bill, model, request }) => {
      const { priceNanoUsd, counted } = description.priceUnread(model, request)
      bill.charge(priceNanoUsd, counted)
    },
  }
}

interface Asked extends UpstreamCall {
  readonly candidate: Candidate
}

async function askForWhole<Body>(
  { of, finish }: WholeDescription<Body>,
  { model, requestedModel, request, bill }: PaidCall<Body>,
  { candidate, ...upstream }: Asked,
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
    handOver: request.handOver,
    ...upstream,
  })
  const provider = candidate.provider.id
  if (answer.kind !== 'complete') throw invalidAnswer(provider, 'it answered with a stream')
  const charge = ({ priceNanoUsd, counted }: PricedCount): NanoUsd => bill.charge(priceNanoUsd, counted)
  const question = { provider, model, requestedModel, request, charge }
  const payload = finish(answer.payload, question)
  if (bill.covering === null) return payload
  // The answer costs more than was held. Write it again with the final cost.
  await bill.covering
  return finish(answer.payload, question)
}

/** An upstream's parsed answer, and its main list. */
interface ParsedPayload {
  readonly members: Record<string, unknown>
  readonly list: readonly Record<string, unknown>[]
}

/** Parses an answer. Throws an `UpstreamError` if it is an error or has no such list. */
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

function notServed(modelId: string): AppError {
  return new AppError('unsupported_parameter', `'${modelId}' cannot serve this operation.`, {
    param: 'model',
  })
}
