import { createHash } from 'node:crypto'
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { isRecord } from '../../../kernel/is-record.ts'
import type {
  JobCall,
  MediaCall,
  MediaOperation,
  MediaOutput,
  UpstreamJob,
} from '../../media/media-operation.ts'
import { UpstreamError } from '../../failures/upstream-error.ts'
import { parseDirectives, type Directives, type Fault } from '../request/directives.ts'
import { delayAnswer, failAtOnce } from '../faults/inject-fault.ts'
import { damageOutput } from './answer-at-once.ts'
import type { SandboxParts } from './begin-call.ts'
import { BoundedMap } from '../../../kernel/bounded-map.ts'

interface Maker<Work, Recipe extends TSchema> {
  readonly recipe: Recipe
  /** Returns the complete description of the work as plain data. The job carries it, so that any process can finish the work. */
  writeRecipe(call: MediaCall<Work>): Promise<Static<Recipe>> | Static<Recipe>
  readPrompt(recipe: Static<Recipe>): string
  make(recipe: Static<Recipe>, prompt: string, signal: AbortSignal): Promise<MediaOutput>
}

const JOBS_REMEMBERED_MAX = 10_000
const POLL_AFTER_MS_MAX = 1000
const ENDLESS_PROGRESS_MAX = 0.99

const START_FAULTS: ReadonlySet<Fault['kind']> = new Set(['error', 'html', 'refuse', 'hang', 'cut'])

/** Answers with work that runs as a job. Nothing runs between start and check: the progress follows from the job's start time. */
export function answerByJob<Work, Recipe extends TSchema>(
  parts: SandboxParts,
  maker: Maker<Work, Recipe>,
): Required<MediaOperation<Work>> {
  const started = new BoundedMap<string, UpstreamJob>({ entriesMax: JOBS_REMEMBERED_MAX })
  const cancelled = new BoundedMap<string, true>({ entriesMax: JOBS_REMEMBERED_MAX })

  /** Returns the fault if it applies at this moment. A fault applies either to the submission or to the returned files. */
  const takeFault = (
    { fault }: Directives,
    moment: 'start' | 'result',
    attemptName: string,
  ): Fault | null => {
    if (fault === null || (moment === 'start') !== START_FAULTS.has(fault.kind)) return null
    return parts.faultAttempts.isDue(fault, attemptName) ? fault : null
  }

  const start: MediaOperation<Work>['start'] = async (call) => {
    const { signal } = call.cancellation
    signal.throwIfAborted()
    const recipe = await maker.writeRecipe(call)
    const { directives } = parseDirectives(maker.readPrompt(recipe))
    const fault = takeFault(directives, 'start', call.requestId)
    const faultContext = { timeouts: call.timeouts, sleep: parts.sleep, signal }
    await delayAnswer(directives.latencyMs, faultContext)
    const job: UpstreamJob = {
      id: nameJob(call, recipe),
      data: { started_ms: parts.clock.nowMs(), recipe },
    }
    // If the response is cut or never arrives, the job exists anyway. `find` looks it up.
    if (fault === null || fault.kind === 'cut' || fault.kind === 'hang') started.set(call.requestId, job)
    if (fault) await failAtOnce(fault, faultContext)
    started.set(call.requestId, job)
    const durationMs = directives.jobDurationMs ?? parts.jobDurationMs
    return { kind: 'started', job, pollAfterMs: Math.min(durationMs, POLL_AFTER_MS_MAX) }
  }

  const check: Required<MediaOperation<Work>>['check'] = async (call) => {
    call.cancellation.throwIfCancelled()
    const job = readJob(call.job, maker.recipe)
    if (job === null || cancelled.get(call.job.id)) throw end(404, 'The sandbox does not know this job.')
    const { directives, remainingText } = parseDirectives(maker.readPrompt(job.recipe))
    const durationMs = directives.jobDurationMs ?? parts.jobDurationMs
    const elapsedMs = parts.clock.nowMs() - job.startedMs
    const progress = durationMs === 0 ? 1 : Math.max(0, elapsedMs / durationMs)
    strike(directives, progress, call)
    if (progress < 1 || directives.jobFault?.kind === 'endless') {
      const remainingMs = Math.max(10, durationMs - elapsedMs)
      return {
        kind: 'running',
        progress: Math.min(progress, ENDLESS_PROGRESS_MAX),
        pollAfterMs: Math.min(remainingMs, POLL_AFTER_MS_MAX),
      }
    }
    const fault = takeFault(directives, 'result', `result of ${call.job.id}`)
    const { signal } = call.cancellation
    const output = await maker.make(job.recipe, remainingText.trim(), signal)
    const faultContext = { timeouts: call.timeouts, sleep: parts.sleep, signal }
    return { kind: 'done', output: await damageOutput(fault, output, faultContext) }
  }

  const strike = ({ jobFault }: Directives, progress: number, call: JobCall): void => {
    if (jobFault === null || jobFault.kind === 'endless') return
    if (jobFault.kind === 'check') {
      const fault = { attemptsMax: jobFault.attemptsMax, attemptKey: null }
      if (parts.faultAttempts.isDue(fault, `check of ${call.job.id}`))
        throw fail(jobFault.status, `The sandbox was told to answer ${jobFault.status} about the job.`)
      return
    }
    if (progress * 100 < jobFault.atPercent) return
    if (jobFault.kind === 'lost') throw end(404, 'The sandbox does not know this job.')
    throw endAsTold(jobFault.status, jobFault.code)
  }

  return {
    start,
    check,
    cancel: async ({ job }) => {
      cancelled.set(job.id, true)
    },
    find: async ({ requestId }) => started.get(requestId) ?? null,
  }
}

interface ReadJob<Recipe extends TSchema> {
  readonly startedMs: number
  readonly recipe: Static<Recipe>
}

function readJob<Recipe extends TSchema>(job: UpstreamJob, schema: Recipe): ReadJob<Recipe> | null {
  const { data } = job
  if (!isRecord(data) || typeof data.started_ms !== 'number' || !Value.Check(schema, data.recipe)) return null
  return { startedMs: data.started_ms, recipe: data.recipe }
}

// The same work of the same request is the same job, even if it is submitted again.
function nameJob(call: { requestId: string; upstreamModel: string }, recipe: unknown): string {
  const text = JSON.stringify([call.requestId, call.upstreamModel, recipe])
  return `job_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`
}

/** Returns an error of the poll, not of the job. */
function fail(status: number, message: string): UpstreamError {
  return new UpstreamError(`sandbox: ${message}`, {
    failure: 'status',
    provider: 'sandbox',
    status,
    upstreamMessage: message,
  })
}

/** Returns the error for a job that has ended, so that polling again is useless. */
function end(status: number, message: string): UpstreamError {
  return new UpstreamError(`sandbox: ${message}`, { ...fail(status, message).details, hasJobEnded: true })
}

function endAsTold(status: number, code: string | null): UpstreamError {
  const { message, details } = end(status, 'The sandbox was told to let the job fail.')
  return new UpstreamError(message, {
    ...details,
    isInjected: true,
    ...(code === null ? {} : { upstreamCode: code }),
  })
}
