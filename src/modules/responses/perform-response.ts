import { ClientDisconnected } from '../../kernel/client-disconnected.ts'
import { isRecord } from '../../kernel/is-record.ts'
import { stringifyJson } from '../../kernel/json/stringify-json.ts'
import type { Database } from '../../storage/database.ts'
import type { Place } from '../../storage/place.ts'
import type { ResponsesRequest } from '../../wires/openai-responses/responses-request.ts'
import { responseIdOf } from '../../wires/openai-responses/response-id.ts'
import type { Chat } from '../chat/chat.ts'
import type { Demand, Inference, InferenceRecord } from '../inference/inference.ts'
import { withLabels, type Caller, type Keys } from '../keys/keys.ts'
import { explainRefusal, type Admission, type Limits } from '../limits/limits.ts'
import { TaskPostponed, type ClaimedTask, type TaskControl, type TaskOutcome } from '../tasks/tasks.ts'
import { conversationIdOf, type ItemConversations } from './conversations/item-conversations.ts'
import { endLostResponse, StoppedResponse } from './end-lost-response.ts'
import { EventRecorder } from './event-recorder.ts'
import { toItems, type ResolvedInput } from './resolve-input.ts'
import type { Item } from './response-items.ts'
import type { ResponseChanges } from './response-changes.ts'
import { countEvents } from './response-events.ts'
import { readBackgroundWork } from './background-work.ts'

export interface PerformOptions {
  readonly chat: Pick<Chat, 'responses' | 'chargeLostResponse'>
  readonly inference: Pick<Inference, 'unattended' | 'drains'>
  readonly keys: Pick<Keys, 'callerOf' | 'formerCallerOf'>
  readonly limits: Pick<Limits, 'admit'>
  readonly database: Database
  /** Reads what the request continues, when it is the account's turn. */
  readonly resolve: (place: Place, body: ResponsesRequest) => Promise<ResolvedInput>
  readonly conversations: Pick<ItemConversations, 'addAnswered'>
  readonly changes: ResponseChanges
}

/**
 * Makes a response in the background, with the limits, hold and charge of a request, under the id of the request that created it.
 * If several workers take up the task, only the answer that is kept is charged. A cancelled response is read to its
 * usage like any answer whose client left, and costs that.
 */
export async function performResponse(
  options: PerformOptions,
  task: ClaimedTask,
  control: TaskControl,
): Promise<TaskOutcome> {
  const { accountId, keyId, requestId } = task
  const place = { accountId, responseId: responseIdOf(requestId) }
  const work = await readBackgroundWork(options.database, place, task.work)
  const recorder = new EventRecorder(
    { ...options, giveUp: () => control.giveUp() },
    { ...place, workerId: control.workerId, isStreamed: work.body.stream === true },
  )
  if (await recorder.isBegun())
    return endLostResponse(options, task, { place, body: work.body, route: ROUTE })
  const caller = withLabels(await options.keys.callerOf(accountId, keyId), task.labels)
  const { whole } = await options.resolve(task, work.body)
  const body = { ...work.body, input: whole, stream: true }
  const { background: _, previous_response_id: __, conversation: ___, ...sent } = body
  const text = stringifyJson(sent)
  let record: InferenceRecord | null = null
  let isMadeAnew = false
  const batches = options.inference.unattended.stream({
    operation: 'responses',
    route: ROUTE,
    caller,
    body,
    text,
    bytes: Buffer.byteLength(text),
    requestId,
    cancellation: control.cancellation,
    isMadeAnew: () => {
      isMadeAnew = control.isHandedOn() && !recorder.hasTold
      return isMadeAnew
    },
    start: (request) => options.chat.responses(request),
    admit: (demand) => admit(options, task, { caller, ...demand }),
    onAdmitted: (begun) => {
      record = begun
      begun.traceparent = task.traceparent
    },
  })
  try {
    for await (const batch of batches) await recorder.add(batch)
    // The rest of an answer that nobody wants was read only for its cost. An answer that is made anew was not charged: the worker
    // that has the task now keeps and charges its own.
    if (isMadeAnew || control.cancellation.reason instanceof ClientDisconnected)
      control.cancellation.throwIfCancelled()
  } finally {
    recorder.stop()
  }
  const response = await recorder.finish()
  const conversationId = conversationIdOf(work.body)
  if (conversationId !== null) {
    const items = [...toItems(work.body.input), ...outputOf(response)]
    await options.conversations.addAnswered(task, conversationId, items)
  }
  return {
    result: { response_id: place.responseId },
    usage: response['usage'] ?? null,
    ...describeEnd(record),
  }
}

/** Charges a cancelled response whose process died, if clients may have read parts of it. */
export async function chargeLeftResponse(
  options: Pick<PerformOptions, 'chat' | 'inference' | 'keys' | 'database' | 'resolve'>,
  task: ClaimedTask,
): Promise<void> {
  const place = { accountId: task.accountId, responseId: responseIdOf(task.requestId) }
  if ((await countEvents(options.database, place)).count === 0) return
  const { body } = await readBackgroundWork(options.database, place, task.work)
  if (body.stream !== true) return
  await endLostResponse(options, task, { place, body, route: ROUTE }).catch((error: unknown) => {
    if (!(error instanceof StoppedResponse)) throw error
  })
}

function outputOf({ output }: Readonly<Record<string, unknown>>): Item[] {
  return Array.isArray(output) ? output.filter(isRecord) : []
}

/** Counted under the route of the request. */
const ROUTE = '/v1/responses'

function describeEnd(record: InferenceRecord | null): Pick<TaskOutcome, 'costNanoUsd' | 'provider'> {
  return { costNanoUsd: record?.costNanoUsd ?? 0n, provider: record?.provider ?? '' }
}

/** Waits for a rate limit, because no client would retry. */
const RATE_WAIT_MS_MAX = 15 * 60_000
/** While too many answers of the account are read without a client. They end by themselves. */
const NO_ROOM_PAUSE_MS = 5_000
const PAUSE_MS_MIN = 1_000
const PAUSE_MS_MAX = 60_000
/**
 * The longer a task has waited, the less often it checks, so that an account with many waiting tasks does not keep workers busy
 * with refusals.
 */
const PAUSE_SHARE = 0.1

/**
 * Throws `TaskPostponed` if the limits do not admit the task yet. It waits in the queue, because in a worker it would block other
 * accounts.
 */
async function admit(
  { limits, inference }: Pick<PerformOptions, 'limits' | 'inference'>,
  { startedAtMs }: ClaimedTask,
  asked: Demand & { readonly caller: Caller },
): Promise<Admission> {
  if (!inference.drains.hasRoom(asked.caller.accountId)) throw new TaskPostponed(NO_ROOM_PAUSE_MS)
  const outcome = await limits.admit(asked)
  if (outcome.isAdmitted) return outcome
  const waitedMs = performance.now() - startedAtMs
  if (waitedMs > RATE_WAIT_MS_MAX) throw explainRefusal(outcome)
  const wantedMs = Math.max(PAUSE_MS_MIN, outcome.retryAfterSeconds * 1_000, waitedMs * PAUSE_SHARE)
  throw new TaskPostponed(Math.min(wantedMs, PAUSE_MS_MAX))
}
