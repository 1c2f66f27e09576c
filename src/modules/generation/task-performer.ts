import { modelNotFound } from '../../kernel/app-error.ts'
import { Cancellation } from '../../kernel/cancellation.ts'
import { UpstreamError } from '../../providers/failures/upstream-error.ts'
import { StoreUnavailable } from '../../storage/media-store/report-store-failures.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { createInferenceRecord, explainFailure } from '../inference/inference.ts'
import type { Caller } from '../keys/keys.ts'
import { mayUseModel, modelNotAllowed } from '../projects/projects.ts'
import {
  TaskPostponed,
  type ClaimedTask,
  type TaskControl,
  type TaskOutcome,
  type TaskPerformer,
} from '../tasks/tasks.ts'
import { costOfWork } from './cost-of-work.ts'
import { describeUsage } from './describe-output.ts'
import { followJob, type FollowedJob } from './follow-job.ts'
import { GENERATION_KINDS } from './generation-kind.ts'
import type { GenerationMedia } from './input-files.ts'
import { keepOutput, type KeptFile } from './keep-output.ts'
import { countOutput, priceOutput } from './price-work.ts'
import { readStoredWork } from './stored-work.ts'
import { attachTo, takeUpWork, type TakeUpOptions, type TaskPlan } from './take-up-work.ts'

/** Returns what the project of a key may use now, also of a key that is revoked. */
export type FormerCallerOf = (accountId: string, keyId: string) => Promise<Pick<Caller, 'project'>>

export interface PerformerOptions extends TakeUpOptions {
  readonly catalog: Pick<Catalog, 'generation' | 'resolve' | 'resolveForWork'>
  readonly formerCallerOf: FormerCallerOf
  readonly media: GenerationMedia
  /** The configured hosts of the provider, which may be private. */
  readonly trustedHostsOf: (providerId: string) => readonly string[]
}

const CANCEL_MS_MAX = 10_000
/** How long a task waits in the queue for a store that does not work. */
const STORE_PAUSE_MS = 10_000
/** The route under which tasks appear in metrics. */
const ROUTE = '/v1/tasks'

/** Performs image, video, music and speech tasks on any worker, and continues where another worker stopped. */
export function createTaskPerformer(options: PerformerOptions): TaskPerformer {
  return {
    perform: async (task, control) => {
      const plan = planTask(task, control, options)
      return options.inference.unattended.report({ route: ROUTE, request: plan.request }, async () => {
        try {
          const outcome = await performTask(plan, control, options)
          plan.request.record.provider = outcome.provider
          return outcome
        } catch (error) {
          // The inputs cannot be read yet, and nothing has been sent.
          if (error instanceof StoreUnavailable) throw new TaskPostponed(STORE_PAUSE_MS)
          throw error instanceof UpstreamError ? explainFailure(error) : error
        }
      })
    },
    cancelJob: async (task) => {
      if (task.job === null || !isGeneration(task.type)) return
      await cancelJob(attachTo(task.job, GENERATION_KINDS[task.type], task, options))
    },
  }
}

function planTask(task: ClaimedTask, control: TaskControl, { catalog }: PerformerOptions): TaskPlan {
  if (!isGeneration(task.type)) throw new Error(`tasks of the type ${task.type} are not made here`)
  const model = catalog.resolveForWork(task.model)
  if (!model) throw modelNotFound(task.model)
  const { accountId, projectId, keyId, environment, requestId } = task
  const record = createInferenceRecord(task.type)
  record.model = model.id
  record.traceparent = task.traceparent
  const unlimited = {
    allowedModels: null,
    requestsPerMinute: null,
    limitNanoUsd: null,
    isOperator: true,
    groupIds: [],
  }
  return {
    ...readStoredWork(task.work),
    task,
    kind: GENERATION_KINDS[task.type],
    model,
    request: {
      // The rights of the key were checked when the task was created.
      caller: {
        accountId,
        projectId,
        keyId,
        environment,
        scopes: new Set(),
        permissions: new Set(),
        ...unlimited,
      },
      body: null,
      text: '',
      bytes: 0,
      requestId,
      record,
      cancellation: control.cancellation,
    },
  }
}

async function performTask(
  plan: TaskPlan,
  control: TaskControl,
  options: PerformerOptions,
): Promise<TaskOutcome> {
  const { task, kind } = plan
  const { clock, media, pause } = options
  const { cancellation } = control
  await requireModel(plan, options)
  const taken = await takeUpWork(plan, control, options)
  const follow = (followed: FollowedJob, pollAfterMs?: number) =>
    followJob(followed, {
      clock,
      pause,
      cancellation,
      deadlineAtMs: task.deadlineAtMs,
      pollAfterMs,
      reportProgress: (progress) => control.reportProgress(progress),
    })
  const output = taken.kind === 'done' ? taken.output : await follow(taken.followed, taken.pollAfterMs)
  const kept = await keepOutput(output, {
    media,
    place: task,
    kind: kind.media,
    trustedHosts: options.trustedHostsOf(taken.provider),
    cancellation,
    pause,
    // The deadline of the task ends the wait.
    storeWaitMs: Infinity,
    ...(taken.kind === 'started' ? { refresh: () => follow(taken.followed) } : {}),
  })
  const { provider, upstreamModel } = taken
  return describeOutcome(plan, { provider, upstreamModel, kept, seconds: output.seconds })
}

/** The project may have lost the model since the task was ordered. Work that an upstream may have begun is followed to its end. */
async function requireModel(
  { task, model }: TaskPlan,
  { formerCallerOf, catalog }: Pick<PerformerOptions, 'formerCallerOf' | 'catalog'>,
): Promise<void> {
  if (task.job !== null || task.submittingTo !== null) return
  const caller = await formerCallerOf(task.accountId, task.keyId)
  if (mayUseModel(catalog, caller, model)) return
  throw modelNotAllowed(task.requestedModel ?? model.id)
}

interface Made {
  readonly provider: string
  readonly upstreamModel: string
  readonly kept: readonly KeptFile[]
  readonly seconds: number | undefined
}

function describeOutcome(
  { task, work, price }: TaskPlan,
  { provider, upstreamModel, kept, seconds }: Made,
): TaskOutcome {
  const made = { files: kept.length, seconds }
  const counted = countOutput(price, work, made)
  const costNanoUsd = priceOutput(price, work, made)
  return {
    result: {
      created: Math.floor(task.createdAtMs / 1000),
      data: kept.map(({ file, revisedPrompt }) => ({
        media_id: file.id,
        ...(revisedPrompt === undefined ? {} : { revised_prompt: revisedPrompt }),
      })),
    },
    usage: describeUsage(work, made, costNanoUsd),
    costNanoUsd,
    counted,
    vendorCost: costOfWork(price, { provider, upstreamModel }, counted),
    provider,
  }
}

/** Cancels the job upstream if the provider supports it, with a short timeout. Never throws. */
export async function cancelJob(followed: FollowedJob | null): Promise<void> {
  if (!followed?.operation.cancel) return
  const { operation, job, upstreamModel, requestId, timeouts } = followed
  const cancellation = new Cancellation()
  const timer = setTimeout(() => cancellation.cancel(new Error('it took too long')), CANCEL_MS_MAX)
  try {
    await operation.cancel?.({ job, upstreamModel, requestId, timeouts, cancellation })
  } catch {
    // The job then ends by itself. The charge does not depend on the provider's answer.
  } finally {
    clearTimeout(timer)
  }
}

function isGeneration(type: ClaimedTask['type']): type is keyof typeof GENERATION_KINDS {
  return Object.hasOwn(GENERATION_KINDS, type)
}
