import { AppError } from '../../kernel/app-error.ts'
import { Cancellation } from '../../kernel/cancellation.ts'
import { formatUsd, type NanoUsd } from '../../kernel/money.ts'
import { stringifyJson } from '../../kernel/json/stringify-json.ts'
import type { Database } from '../../storage/database.ts'
import type { Place } from '../../storage/place.ts'
import type { ResponsesRequest } from '../../wires/openai-responses/responses-request.ts'
import type { Chat } from '../chat/chat.ts'
import { createInferenceRecord, mayPass, type Inference } from '../inference/inference.ts'
import { withLabels, type Keys } from '../keys/keys.ts'
import { findCharges } from '../ledger/ledger.ts'
import { TaskPostponed, type ClaimedTask } from '../tasks/tasks.ts'
import type { ResolvedInput } from './resolve-input.ts'
import { readAllEvents } from './response-events.ts'

interface EndLostOptions {
  readonly chat: Pick<Chat, 'chargeLostResponse'>
  readonly inference: Pick<Inference, 'unattended'>
  readonly keys: Pick<Keys, 'formerCallerOf'>
  readonly database: Database
  readonly resolve: (place: Place, body: ResponsesRequest) => Promise<ResolvedInput>
}

interface LostPlace {
  readonly place: { readonly accountId: string; readonly responseId: string }
  readonly body: ResponsesRequest
  /** Counted under this route. */
  readonly route: string
}

/** Until the ledger can charge again. */
const CHARGE_PAUSE_MS = 5_000

/**
 * Fails a streamed response whose process died in the middle of it, because clients may have read parts of it. The vendor was
 * paid, so it is charged first, under the id of its request: a worker that dies between the charge and the failure leaves a task
 * that the next one fails without another charge.
 */
export async function endLostResponse(
  options: EndLostOptions,
  task: ClaimedTask,
  lost: LostPlace,
): Promise<never> {
  try {
    const found = await findCharge(options.database, task)
    if (found !== null) throw stopped(found)
    return await charge(options, task, lost)
  } catch (error) {
    if (isLedgerAway(error)) throw new TaskPostponed(CHARGE_PAUSE_MS)
    throw error
  }
}

async function findCharge(
  database: Database,
  { accountId, requestId }: ClaimedTask,
): Promise<NanoUsd | null> {
  const charges = await findCharges(database, accountId, [requestId])
  return charges.get(requestId)?.costNanoUsd ?? null
}

async function charge(
  options: EndLostOptions,
  task: ClaimedTask,
  { place, body: asked, route }: LostPlace,
): Promise<never> {
  const { chat, inference, keys, database } = options
  const caller = withLabels(await keys.formerCallerOf(task.accountId, task.keyId), task.labels)
  const body = { ...asked, input: await readInput(options, task, asked), stream: true }
  const text = stringifyJson(body)
  const record = createInferenceRecord('responses')
  record.asked = body
  const request = {
    caller,
    body,
    text,
    bytes: Buffer.byteLength(text),
    requestId: task.requestId,
    record,
    // Nobody can cancel work that is over.
    cancellation: new Cancellation(),
  }
  return inference.unattended.report({ route, request }, async () => {
    await chat.chargeLostResponse(request, { events: readAllEvents(database, place) })
    throw stopped(record.costNanoUsd ?? 0n)
  })
}

/** Without the stored conversation if that was deleted meanwhile. */
async function readInput(
  { resolve }: EndLostOptions,
  task: ClaimedTask,
  body: ResponsesRequest,
): Promise<ResponsesRequest['input']> {
  try {
    return (await resolve(task, body)).whole
  } catch (error) {
    if (error instanceof AppError && !mayPass(error)) return body.input
    throw error
  }
}

/** A response that was charged and cannot go on. */
export class StoppedResponse extends AppError {}

function stopped(costNanoUsd: NanoUsd): StoppedResponse {
  const end = 'The process that made the response stopped in the middle of it.'
  const cost =
    costNanoUsd === 0n
      ? 'Nothing is charged.'
      : `Its prompt and what was delivered are charged: ${formatUsd(costNanoUsd)} USD.`
  return new StoppedResponse('internal_error', `${end} ${cost}`)
}

function isLedgerAway(error: unknown): boolean {
  return error instanceof AppError && (error.mayBeDone || error.code === 'service_unavailable')
}
