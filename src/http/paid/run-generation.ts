import { Type, type Static } from 'typebox'
import type {
  Generation,
  GenerationRequest,
  DeliveryPreference,
} from '../../modules/generation/generation.ts'
import { createInferenceRecord } from '../../modules/inference/inference.ts'
import { namedValues } from '../../wires/named-values.ts'
import { nullable } from '../../wires/nullable.ts'
import { baseUrlOf } from '../parameters/base-url-of.ts'
import { toldError } from '../answers/error-envelope.ts'
import { parsePrefer } from '../parameters/prefer-header.ts'
import type { RouteRequest } from '../route.ts'
import { pollHeadersOf, toTaskReceipt } from '../routes/tasks/task-wire.ts'
import type { RunPaid } from './run-paid.ts'
import type { IncomingHttpHeaders } from 'node:http'

export { TaskReceipt } from '../routes/tasks/task-wire.ts'

/** Members of all requests that may create a task. */
export const TaskMembers = {
  webhook_url: nullable(
    Type.String({
      minLength: 1,
      maxLength: 2048,
      description: 'Where the task is sent to when it has ended, signed in the Standard Webhooks way.',
    }),
  ),
  metadata: nullable(
    namedValues(Type.Unknown(), { count: 16, length: 64, description: 'Comes back with the task.' }),
  ),
}

type TaskMembers = Partial<{ [Name in keyof typeof TaskMembers]: Static<(typeof TaskMembers)[Name]> }>

interface Order extends Pick<GenerationRequest, 'type' | 'model' | 'work' | 'responseFormat'> {
  /** Waits for the result like a client that cannot poll, unless the client prefers a task. */
  readonly isAwaited?: boolean
}

/** Shared by all routes that generate images, video or music. */
export type RunGeneration = (
  request: RouteRequest<TaskMembers, unknown, unknown>,
  order: Order,
) => Promise<unknown>

interface RunGenerationOptions {
  readonly generation: Pick<Generation, 'generate'>
  readonly runPaid: RunPaid
  readonly imageWait: ImageWait
}

export function createRunGeneration({ generation, runPaid, imageWait }: RunGenerationOptions): RunGeneration {
  return async (request, { isAwaited = false, ...order }) => {
    const { body, caller, exchange, headers, reply } = request
    const record = createInferenceRecord(order.type)
    const preference =
      order.type !== 'tts'
        ? imagePreference(headers, isAwaited ? 'always' : imageWait)
        : parsePrefer(headers['prefer'])
    const result = await runPaid(request, record, () =>
      generation.generate({
        ...order,
        preference,
        baseUrl: baseUrlOf(headers),
        webhookUrl: body.webhook_url ?? null,
        metadata: body.metadata ?? null,
        caller,
        requestId: exchange.id,
        record,
        cancellation: exchange.cancellation,
      }),
    )
    if (result.kind === 'done') return result.answer
    const { error } = result.task
    if (error !== null && preference.isWaitByDefault) throw toldError(error)
    void reply.code(202).headers(pollHeadersOf(result.task))
    if (preference.isAsyncWanted) void reply.header('preference-applied', 'respond-async')
    return toTaskReceipt(result.task)
  }
}

/** Whether to wait for images of asynchronous models if the client does not say. */
type ImageWait = 'auto' | 'always' | 'never'

const WAIT_SECONDS = 60

/** Returns the preference of the `Prefer` header. Without one, waits for clients that cannot poll. */
function imagePreference(headers: IncomingHttpHeaders, imageWait: ImageWait): DeliveryPreference {
  const preference = parsePrefer(headers['prefer'])
  if (preference.isAsyncWanted || preference.waitSeconds !== null || imageWait === 'never') return preference
  return imageWait === 'always' || cannotPoll(headers)
    ? { ...preference, waitSeconds: WAIT_SECONDS, isWaitByDefault: true }
    : preference
}

/** Detects OpenAI's SDKs by their language header, and the AI SDK by the user agent. */
function cannotPoll(headers: IncomingHttpHeaders): boolean {
  return headers['x-stainless-lang'] !== undefined || /\bai(?:-sdk)?\//i.test(headers['user-agent'] ?? '')
}
