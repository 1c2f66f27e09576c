import { AppError } from '../../kernel/app-error.ts'
import { stringifyJson } from '../../kernel/stringify-json.ts'
import type { Database } from '../../storage/database.ts'
import { responseIdOf } from '../../wires/openai-responses/response-id.ts'
import type { Chat } from '../chat/chat.ts'
import type { Demand, Inference, InferenceRecord } from '../inference/inference.ts'
import type { Caller, Keys } from '../keys/keys.ts'
import type { Admission, Limits } from '../limits/limits.ts'
import { TaskPostponed, type ClaimedTask, type TaskControl, type TaskOutcome } from '../tasks/tasks.ts'
import { EventRecorder } from './event-recorder.ts'
import { resolveInput, type ResolveOptions } from './resolve-input.ts'
import type { ResponseChanges } from './response-changes.ts'
import { readBackgroundWork } from './background-work.ts'

export interface PerformOptions {
  readonly chat: Pick<Chat, 'responses'>
  readonly inference: Pick<Inference, 'unattended'>
  readonly keys: Pick<Keys, 'callerOf'>
  readonly limits: Pick<Limits, 'admit'>
  readonly database: Database
  readonly resolving: ResolveOptions
  readonly changes: ResponseChanges
}

/**
 * Makes a response in the background. It is limited, held, charged and metered as a request is, under the id of the request that asked for it:
 * however often it is taken up, it is charged once, for the answer that is kept. Cancelled, it costs what was made of it.
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
  await recorder.requireUntouched()
  const caller = await options.keys.callerOf(accountId, keyId)
  const { whole } = await resolveInput(options.resolving, accountId, work.body)
  const body = { ...work.body, input: whole, stream: true }
  const { background: _, previous_response_id: __, ...sent } = body
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
    admit: (demand) => admit(options.limits, task, { caller, ...demand }),
    onAdmitted: (begun) => {
      record = begun
    },
  })
  try {
    for await (const batch of batches) await recorder.add(batch)
    // Nobody paid for it: whoever has the task now keeps the answer that is charged.
    if (isMadeAnew) control.cancellation.throwIfCancelled()
  } finally {
    recorder.stop()
  }
  const response = await recorder.finish()
  return {
    result: { response_id: place.responseId },
    usage: response['usage'] ?? null,
    ...describeEnd(record),
  }
}

/** It is counted as the request would be. */
const ROUTE = '/v1/responses'

function describeEnd(record: InferenceRecord | null): Pick<TaskOutcome, 'costNanoUsd' | 'provider'> {
  return { costNanoUsd: record?.costNanoUsd ?? 0n, provider: record?.provider ?? '' }
}

/** A rate is waited for, because there is nobody who would come back later. */
const RATE_WAIT_MS_MAX = 15 * 60_000
const PAUSE_MS_MIN = 1_000
const PAUSE_MS_MAX = 60_000
/** The longer it has waited, the less often it looks: an account with many waiting keeps no worker busy with refusals. */
const PAUSE_SHARE = 0.1

/** One that may not run yet waits in the queue: in a worker's place it would keep other accounts from theirs. */
async function admit(
  limits: Pick<Limits, 'admit'>,
  { startedAtMs }: ClaimedTask,
  asked: Demand & { readonly caller: Caller },
): Promise<Admission> {
  const outcome = await limits.admit(asked)
  if (outcome.isAdmitted) return outcome
  const waitedMs = performance.now() - startedAtMs
  if (waitedMs > RATE_WAIT_MS_MAX)
    throw new AppError('rate_limit_exceeded', 'The limits of this account left no room for the response.')
  const wantedMs = Math.max(PAUSE_MS_MIN, outcome.retryAfterSeconds * 1_000, waitedMs * PAUSE_SHARE)
  throw new TaskPostponed(Math.min(wantedMs, PAUSE_MS_MAX))
}
