import { AppError } from '../../kernel/app-error.ts'
import type {
  InputFile,
  MediaOutput,
  MediaStart,
  UpstreamJob,
} from '../../providers/media/media-operation.ts'
import type { MediaWork } from '../../providers/media/media-work.ts'
import { UpstreamError } from '../../providers/failures/upstream-error.ts'
import type { Candidate, Inference, InferenceRequest } from '../inference/inference.ts'
import type { StoredJob, TaskControl } from '../tasks/tasks.ts'
import { bindWork, type WorkOperation } from './work-operation.ts'

export type Submitted = { readonly candidate: Candidate } & (
  | { readonly kind: 'done'; readonly output: MediaOutput }
  | { readonly kind: 'started'; readonly job: UpstreamJob; readonly pollAfterMs?: number }
)

interface Submission {
  readonly work: MediaWork<InputFile>
  readonly candidates: readonly Candidate[]
  readonly request: InferenceRequest<unknown>
  readonly notes: Pick<TaskControl, 'noteSubmitting' | 'noteRefused' | 'saveJob'>
}

/** Submits the work to the first upstream that accepts it. Throws `AppError` if none does. */
export function submitWork(inference: Pick<Inference, 'answer'>, submission: Submission): Promise<Submitted> {
  const { work, candidates, request, notes } = submission
  return inference.answer(candidates, request, async (candidate, { cancellation, onKey }) => {
    const { provider, upstreamModel, timeouts } = candidate
    const operation = bindWork(provider, work)
    if (!operation) {
      throw new AppError('unsupported_parameter', `The provider '${provider.id}' cannot do this.`)
    }
    const target = { provider: provider.id, upstreamModel }
    await notes.noteSubmitting(target)
    const call = { upstreamModel, requestId: request.requestId, timeouts, cancellation, onKey }
    const started = await startOrFind(operation, call).catch(async (error: unknown) => {
      if (error instanceof UpstreamError && NEVER_TAKEN.has(error.details.failure)) await notes.noteRefused()
      throw error
    })
    if (started.kind === 'done') {
      requireFiles(provider.id, started.output)
      return { ...started, candidate }
    }
    await notes.saveJob(storedJob(target, started.job))
    return { ...started, candidate }
  })
}

export function storedJob(target: Omit<StoredJob, 'job'>, { id, data }: UpstreamJob): StoredJob {
  return { ...target, job: { id, ...(data === undefined ? {} : { data }) } }
}

/** Throws if the output has no file. An empty output is a failure and is not charged. */
export function requireFiles(provider: string, { files }: MediaOutput): void {
  if (files.length > 0) return
  throw new UpstreamError(`${provider}: the answer has no file in it`, {
    failure: 'invalid_answer',
    provider,
  })
}

/**
 * Starts the work. If the response was lost, the upstream may have accepted it, so asks for the job where the upstream supports
 * that.
 */
async function startOrFind(
  operation: WorkOperation,
  call: Parameters<WorkOperation['start']>[0],
): Promise<MediaStart> {
  try {
    return await operation.start(call)
  } catch (error) {
    if (!operation.find || !(error instanceof UpstreamError) || !MAYBE_TAKEN.has(error.details.failure))
      throw error
    const job = await operation.find(call).catch(() => null)
    if (job === null) throw error
    return { kind: 'started', job }
  }
}

/** Failures after which the upstream certainly has no job: it refused, or no connection was made. */
const NEVER_TAKEN: ReadonlySet<string> = new Set(['status', 'connect'])
const MAYBE_TAKEN: ReadonlySet<string> = new Set(['timeout', 'cut', 'invalid_answer'])
