import { toErrorAnswer } from '../http/answers/error-envelope.ts'
import type { EndedCall } from '../modules/compare/compare.ts'
import type { InferenceRecord, OperationName } from '../modules/inference/inference.ts'
import type { TaskPerformer } from '../modules/tasks/tasks.ts'
import type { TokenCounts } from '../telemetry/token-counts.ts'
import type { InferenceSpan, InferenceStart, Tracer } from '../telemetry/tracing.ts'

/** As the conventions name them; where they have no name, ours. */
const TRACED: Readonly<Record<OperationName, InferenceStart['operation']>> = {
  chat: 'chat',
  completion: 'text_completion',
  messages: 'chat',
  responses: 'chat',
  embedding: 'embeddings',
  rerank: 'rerank',
  moderation: 'moderation',
  image: 'generate_content',
  edit: 'generate_content',
  upscale: 'generate_content',
  bg_remove: 'generate_content',
  video: 'generate_content',
  music: 'generate_content',
  tts: 'generate_content',
  stt: 'transcription',
  translation: 'transcription',
}

/** An inference that is over and had no span while it ran. */
interface EndedInference {
  readonly record: InferenceRecord
  readonly requestId: string
  readonly accountId: string | undefined
  readonly durationMs: number
  readonly status: number
  readonly traceparent?: string | undefined
}

/** A span with the times of the inference. Made at its end, so that it costs nothing before. */
export function traceEnded(tracer: Tracer, ended: EndedInference, start: Partial<InferenceStart> = {}): void {
  const { record, requestId, accountId, durationMs, status, traceparent } = ended
  // Work that was only handed to a task asked nobody; the task has a span of its own.
  if (record.outcome === 'completed' && record.attempts.length === 0) return
  const span = tracer.startInference({
    operation: TRACED[record.operation],
    work: record.operation,
    model: record.model ?? 'default',
    requestId,
    startedAtMs: Date.now() - durationMs,
    ...(accountId === undefined ? {} : { accountId }),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...start,
  })
  finishSpan(span, record, status)
}

export function finishSpan(span: InferenceSpan, record: InferenceRecord, status: number): void {
  const { provider, model, firstTokenMs, usage, outcome, attempts } = record
  if (provider !== null) span.setProvider({ provider })
  if (model !== null) span.setResponse({ model })
  if (firstTokenMs !== null) span.setFirstToken(firstTokenMs)
  if (usage !== null) span.setUsage(tokenCounts(usage))
  span.finish({
    status,
    attempts: attempts.length,
    ...(outcome === 'completed' ? {} : { error: { type: outcome } }),
  })
}

/** A cell of a run, a question of its judge or a lane of a turn: a chat call that no exchange belongs to. */
export function traceCall(tracer: Tracer, { record, durationMs, error, call }: EndedCall): void {
  const { body, requestId, caller } = call
  const status = error === null ? 200 : toErrorAnswer(error, '').status
  const maxTokens = body.max_completion_tokens ?? body.max_tokens
  traceEnded(
    tracer,
    { record, requestId, accountId: caller.accountId, durationMs, status },
    {
      model: body.model,
      isStream: true,
      ...(typeof maxTokens === 'number' ? { maxTokens } : {}),
      ...(typeof body.temperature === 'number' ? { temperature: body.temperature } : {}),
      ...(typeof body.top_p === 'number' ? { topP: body.top_p } : {}),
      ...(typeof body.seed === 'number' ? { seed: body.seed } : {}),
    },
  )
}

/** A worker's part of a task, from where it took it up to its end. */
export function traceTasks(performer: TaskPerformer, tracer: Tracer | null): TaskPerformer {
  if (tracer === null) return performer
  return {
    cancelJob: (task) => performer.cancelJob(task),
    perform: async (task, control) => {
      const { type, model, requestId, accountId } = task
      const span = tracer.startInference({
        operation: TRACED[type === 'response' ? 'responses' : type],
        work: type,
        model,
        requestId,
        accountId,
      })
      try {
        const outcome = await performer.perform(task, control)
        span.setProvider({ provider: outcome.provider })
        span.setResponse({ model })
        span.finish({ status: 200 })
        return outcome
      } catch (error) {
        const isLeft = control.cancellation.isCancelled
        span.finish({
          status: toErrorAnswer(error, '').status,
          error: { type: isLeft ? 'disconnected' : 'failed' },
        })
        throw error
      }
    },
  }
}

export function tokenCounts(usage: NonNullable<InferenceRecord['usage']>): TokenCounts {
  return {
    prompt: usage.promptTokens,
    completion: usage.completionTokens,
    cached: usage.cachedTokens,
    cacheWrite: usage.cacheWriteTokens,
    reasoning: usage.reasoningTokens,
  }
}
