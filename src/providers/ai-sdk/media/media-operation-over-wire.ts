import { systemClock } from '../../../kernel/clock.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import type {
  JobCall,
  MediaCall,
  MediaOperation,
  MediaProgress,
  MediaStart,
  UpstreamJob,
} from '../../media/media-operation.ts'
import type { AiSdkProviderOptions } from '../lazy-provider.ts'
import { markKey } from '../../batch/mark-key.ts'
import { createVendorCalls } from '../exchange/vendor-calls.ts'
import { jobLost } from './job-failure.ts'
import type { MediaWire, WireSession } from './media-wire.ts'

export interface MediaVendor<Work> {
  readonly provider: string
  readonly defaultBaseUrl: string
  readonly wire: MediaWire<Work>
}

/** Creates an operation that uses the operator's keys. A job is polled with the key that submitted it. */
export function createMediaOperation<Work>(
  { provider, defaultBaseUrl, wire }: MediaVendor<Work>,
  options: AiSdkProviderOptions,
): Required<MediaOperation<Work>> {
  const { baseUrl = defaultBaseUrl, clock = systemClock } = options
  const calls = createVendorCalls(provider, options)

  const attempt = <T>(
    { timeouts, cancellation, onKey }: Pick<MediaCall<Work>, 'timeouts' | 'cancellation' | 'onKey'>,
    keyMark: string | undefined,
    run: (session: WireSession) => Promise<T>,
  ): Promise<T> =>
    calls.attempt({ timeouts, signal: cancellation.signal, onKey, keyMark }, ({ apiKey, exchange }) =>
      run({
        provider,
        apiKey,
        baseUrl: baseUrl.replace(/\/+$/, ''),
        fetch: exchange.fetch,
        signal: cancellation.signal,
        nowMs: () => clock.nowMs(),
      }),
    )

  const submit = (call: MediaCall<Work>): Promise<MediaStart> =>
    attempt(call, undefined, async (session) => {
      const start = await wire.submit(call, session)
      return start.kind === 'started' ? { ...start, job: markJob(start.job, session) } : start
    })

  const checkJob = (call: JobCall): Promise<MediaProgress> =>
    attempt(call, readKeyMark(call.job), async (session) => {
      if (wire.check === undefined) throw jobLost(provider)
      return wire.check(call, session)
    })

  const cancelJob = (call: JobCall): Promise<void> =>
    attempt(call, readKeyMark(call.job), async (session) => wire.cancel?.(call, session))

  return {
    async start(call) {
      const pieces = (wire.split?.(call.work, call.upstreamModel) ?? [call.work]).map((work, index) => ({
        ...call,
        work,
        requestId: index === 0 ? call.requestId : `${call.requestId}-${index}`,
      }))
      const settled = await Promise.allSettled(pieces.map(submit))
      const starts = settled.flatMap((piece) => (piece.status === 'fulfilled' ? [piece.value] : []))
      const failed = settled.find((piece) => piece.status === 'rejected')
      if (failed !== undefined) {
        await Promise.allSettled(jobsOf(starts).map((job) => cancelJob({ ...call, job })))
        throw failed.reason
      }
      return joinStarts(starts)
    },

    async check(call) {
      const looks = await Promise.all(piecesOf(call.job).map((job) => checkJob({ ...call, job })))
      return joinProgress(looks)
    },

    async cancel(call) {
      await Promise.all(piecesOf(call.job).map((job) => cancelJob({ ...call, job })))
    },

    async find(call) {
      // The key of the lost submission is unknown, so try all of them.
      for (const key of options.apiKeys) {
        const found = await attempt(call, markKey(key), async (session) => {
          const job = (await wire.find?.(call, session)) ?? null
          return job === null ? null : markJob(job, session)
        })
        if (found !== null) return found
      }
      return null
    },
  }
}

function markJob(job: UpstreamJob, { apiKey }: WireSession): UpstreamJob {
  return { ...job, data: { ...job.data, key: markKey(apiKey) } }
}

function readKeyMark({ data }: UpstreamJob): string | undefined {
  return typeof data?.['key'] === 'string' ? data['key'] : undefined
}

function jobsOf(starts: readonly MediaStart[]): UpstreamJob[] {
  return starts.flatMap((start) => (start.kind === 'started' ? [start.job] : []))
}

/** Joins the parts of one piece of work. A wire either answers immediately or starts a job, so all parts are of one kind. */
function joinStarts(starts: readonly MediaStart[]): MediaStart {
  const [first] = starts
  if (first !== undefined && starts.length === 1) return first
  const jobs = jobsOf(starts)
  const [firstJob] = jobs
  if (first?.kind !== 'started' || firstJob === undefined) {
    return { kind: 'done', output: { files: starts.flatMap(filesOf) } }
  }
  return { ...first, job: { id: firstJob.id, data: { pieces: jobs } } }
}

function joinProgress(looks: readonly MediaProgress[]): MediaProgress {
  const [first] = looks
  if (first !== undefined && looks.length === 1) return first
  const running = looks.find((look) => look.kind === 'running')
  if (running === undefined) return { kind: 'done', output: { files: looks.flatMap(filesOf) } }
  const finished = looks.reduce((sum, look) => sum + (look.kind === 'done' ? 1 : (look.progress ?? 0)), 0)
  return { ...running, progress: finished / looks.length }
}

function filesOf(piece: MediaStart | MediaProgress) {
  return piece.kind === 'done' ? piece.output.files : []
}

function piecesOf(job: UpstreamJob): readonly UpstreamJob[] {
  const pieces = job.data?.['pieces']
  if (!Array.isArray(pieces)) return [job]
  return pieces.filter(isJob)
}

function isJob(value: unknown): value is UpstreamJob {
  return (
    isRecord(value) &&
    typeof value['id'] === 'string' &&
    (value['data'] === undefined || isRecord(value['data']))
  )
}
