import { AppError } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { MediaOutput } from '../../providers/media/media-operation.ts'
import type { UpstreamTimeouts } from '../../providers/provider.ts'
import type { ProviderRegistry } from '../../providers/registry.ts'
import type { CatalogModel } from '../catalog/catalog.ts'
import {
  endKeyUses,
  type Candidate,
  type CandidateSelector,
  type Inference,
  type InferenceRequest,
} from '../inference/inference.ts'
import type { Media } from '../media/media.ts'
import type { ClaimedTask, StoredJob, TaskControl } from '../tasks/tasks.ts'
import type { FollowedJob, Pause } from './follow-job.ts'
import type { GenerationKind } from './generation-kind.ts'
import { loadInputs } from './input-files.ts'
import type { StoredWork } from './stored-work.ts'
import { estimateWork } from './price-work.ts'
import { storedJob, submitWork } from './submit-work.ts'
import { bindWork, jobOperationOf } from './work-operation.ts'

export interface TakeUpOptions {
  readonly inference: Pick<Inference, 'answer' | 'unattended'>
  readonly providers: Pick<ProviderRegistry, 'find'>
  readonly media: Pick<Media, 'read'>
  readonly clock: Clock
  /** For jobs of routes that are no longer in the catalog. */
  readonly timeouts: UpstreamTimeouts
  readonly selectorOf: (kind: GenerationKind) => CandidateSelector
  readonly pause: Pause
}

/** A task with its parsed work, model and request. */
export interface TaskPlan extends StoredWork {
  readonly task: ClaimedTask
  readonly kind: GenerationKind
  readonly model: CatalogModel
  readonly request: InferenceRequest<unknown>
}

/** Work that an upstream has accepted as a job, or has already finished. */
export type TakenWork = { readonly provider: string; readonly upstreamModel: string } & (
  | { readonly kind: 'started'; readonly followed: FollowedJob; readonly pollAfterMs?: number | undefined }
  | { readonly kind: 'done'; readonly output: MediaOutput }
)

/** How long a task waits for capacity in all. It says nothing meanwhile, so it is not long. */
const CAPACITY_WAIT_SECONDS_MAX = 30
const CAPACITY_PAUSE_SECONDS = 2

/** Continues the stored job, finds the job of an interrupted submit, or submits the work. */
export async function takeUpWork(
  plan: TaskPlan,
  control: TaskControl,
  options: TakeUpOptions,
): Promise<TakenWork> {
  const { task, kind, request } = plan
  if (task.job !== null) {
    const followed = attachTo(task.job, kind, task, options)
    if (followed) return startedWith(followed)
    throw new AppError('provider_error', `The provider '${task.job.provider}' is not configured any more.`)
  }
  const candidates = options.selectorOf(kind).select(request.caller, plan.model, task.requestedModel)
  const work = await loadInputs(plan.work, { media: options.media, place: task })
  const found = await findCutSubmit(plan, candidates, work, options)
  if (found !== null) {
    await control.saveJob(found)
    const followed = requireAttached(attachTo(found, kind, task, options))
    return startedWith(followed)
  }
  const submitted = await withPatience(control.cancellation, options.pause, () =>
    submitWork(options.inference, {
      work,
      candidates: firstThoseOf(candidates, task.submittingTo?.provider),
      request,
      notes: control,
    }),
  )
  // When it is submitted, because another process may follow it to its end.
  endKeyUses(request.record, { tokens: 0, spentNanoUsd: estimateWork(plan.price, plan.work) })
  const { candidate } = submitted
  const { upstreamModel } = candidate
  const provider = candidate.provider.id
  if (submitted.kind === 'done') return { kind: 'done', provider, upstreamModel, output: submitted.output }
  const job = storedJob({ provider, upstreamModel }, submitted.job)
  const followed = requireAttached(attachTo(job, kind, task, options, candidate.timeouts))
  return { ...startedWith(followed), pollAfterMs: submitted.pollAfterMs }
}

function startedWith(followed: FollowedJob) {
  const { provider, upstreamModel } = followed
  return { kind: 'started' as const, provider, upstreamModel, followed }
}

/** Looks up the job that a worker was submitting when it died, if the provider supports that. */
async function findCutSubmit(
  { task, request }: TaskPlan,
  candidates: readonly Candidate[],
  work: Awaited<ReturnType<typeof loadInputs>>,
  { providers, timeouts }: TakeUpOptions,
): Promise<StoredJob | null> {
  const target = task.submittingTo
  const provider = target && providers.find(target.provider)
  if (!target || !provider) return null
  const { requestId, cancellation } = request
  const call = {
    upstreamModel: target.upstreamModel,
    requestId,
    timeouts: candidates.find((candidate) => candidate.provider === provider)?.timeouts ?? timeouts,
    cancellation,
  }
  const job = await bindWork(provider, work)?.find?.(call)
  return job ? storedJob(target, job) : null
}

/** Sorts the candidates of this provider first. It recognises the request by its id and need not do the work twice. */
function firstThoseOf(candidates: readonly Candidate[], provider: string | undefined): readonly Candidate[] {
  return candidates.toSorted(
    (one, other) => Number(other.provider.id === provider) - Number(one.provider.id === provider),
  )
}

export function attachTo(
  { provider: id, upstreamModel, job }: StoredJob,
  kind: GenerationKind,
  { requestId }: ClaimedTask,
  { providers, timeouts: usual }: Pick<TakeUpOptions, 'providers' | 'timeouts'>,
  timeouts: UpstreamTimeouts = usual,
): FollowedJob | null {
  const provider = providers.find(id)
  const operation = provider && jobOperationOf(provider, kind.work)
  return operation ? { provider: id, upstreamModel, job, operation, requestId, timeouts } : null
}

function requireAttached(followed: FollowedJob | null): FollowedJob {
  if (followed === null) throw new Error('a provider that took work cannot be asked about it')
  return followed
}

/** Retries while no provider has capacity. A task can wait, because no client holds a connection for it. */
async function withPatience<Result>(
  cancellation: Cancellation,
  pause: Pause,
  submit: () => Promise<Result>,
): Promise<Result> {
  let waitedSeconds = 0
  for (let round = 0; ; round += 1) {
    try {
      return await submit()
    } catch (error) {
      const hasNoRoom = error instanceof AppError && NO_ROOM_CODES.has(error.code)
      if (!hasNoRoom) throw error
      const seconds = Math.max(error.retryAfterSeconds ?? 0, CAPACITY_PAUSE_SECONDS * 2 ** round)
      // A provider is not asked again before the pause that it asks for ends: the task ends and tells the client.
      if (waitedSeconds + seconds > CAPACITY_WAIT_SECONDS_MAX) throw tellPause(error)
      waitedSeconds += seconds
      await pause(seconds * 1000, cancellation)
    }
  }
}

/** Adds the pause to the message, because the error of a task has no headers. */
function tellPause(error: AppError): AppError {
  const { code, message, retryAfterSeconds } = error
  if (retryAfterSeconds === null) return error
  const told = `${message} Try again in ${Math.ceil(retryAfterSeconds)} seconds.`
  return new AppError(code, told, { retryAfterSeconds, cause: error })
}

const NO_ROOM_CODES: ReadonlySet<string> = new Set([
  'rate_limit_exceeded',
  'capacity_exhausted',
  'service_unavailable',
  'queue_full',
])
