import type {
  Experimental_VideoModelV4 as VideoModelV4,
  Experimental_VideoModelV4OperationStatusResult as VideoStatus,
  JSONValue,
} from '@ai-sdk/provider'
import { parseJson } from '../exchange/read-json.ts'

import type { InputFile, JobCall, MediaProgress, OutputFile } from '../../media/media-operation.ts'
import type { VideoWork } from '../../media/media-work.ts'
import { isRecord } from '../exchange/read-json.ts'
import { invalidAnswer, jobFailed, jobLost } from './job-failure.ts'
import type { MediaWire, WireSession } from './media-wire.ts'
import { toAspectRatio, toModelFile, type VideoModelOptions } from './model-options.ts'

/** The differences between the video models whose packages start and poll a job. */
export interface VideoModelVendor {
  readonly pollAfterMs: number
  readonly createModel: (session: WireSession, modelId: string) => Promise<VideoModel>
  /** Returns corrections to the common options, and the vendor's own options. */
  readonly toOptions: (work: VideoWork<InputFile>, modelId: string) => Partial<VideoModelOptions>
  /** Reads what the package omits from the vendor's answer to a poll. */
  readonly readStatus: (answer: unknown) => VideoFacts
  readonly toFile?: (url: string, session: WireSession) => OutputFile
  readonly cancel?: (call: JobCall, session: WireSession) => Promise<void>
}

/** Only the members that are used, because the packages depend on different versions of the type. */
type VideoModel = Pick<VideoModelV4, 'doStart' | 'doStatus'>

interface VideoFacts {
  /** Between 0 and 1. */
  readonly progress?: number | undefined
  readonly seconds?: number | undefined
  readonly isLost?: boolean
  readonly failure?: { readonly message?: string | undefined; readonly code?: string | undefined }
}

export function createVideoModelWire(vendor: VideoModelVendor): MediaWire<VideoWork<InputFile>> {
  const { pollAfterMs, cancel } = vendor
  return {
    async submit({ work, upstreamModel }, session) {
      const model = await vendor.createModel(session, upstreamModel)
      const options = { ...toVideoOptions(work, session), ...vendor.toOptions(work, upstreamModel) }
      const started = await model.doStart?.(options)
      const id = readId(started?.operation)
      if (started === undefined || id === undefined) throw invalidAnswer(session.provider, 'the id of a job')
      return { kind: 'started', job: { id, data: { operation: started.operation } }, pollAfterMs }
    },

    async check({ job, upstreamModel }, session) {
      const operation = job.data?.['operation']
      if (!isJson(operation)) throw jobLost(session.provider)
      const tap = createAnswerTap(session.fetch)
      const model = await vendor.createModel({ ...session, fetch: tap.fetch }, upstreamModel)
      const status = await look(model, operation, session).catch((error: unknown) => error)
      return readProgress(vendor, session, status, vendor.readStatus(tap.readAnswer()))
    },

    ...(cancel === undefined ? {} : { cancel }),
  }
}

export function toVideoOptions(
  work: VideoWork<InputFile>,
  { signal }: Pick<WireSession, 'signal'>,
): VideoModelOptions {
  return {
    prompt: work.prompt,
    n: 1,
    aspectRatio: toAspectRatio(work.aspectRatio),
    resolution: undefined,
    duration: work.durationSeconds,
    fps: undefined,
    seed: work.seed ?? undefined,
    image: work.image === null ? undefined : toModelFile(work.image),
    frameImages: undefined,
    inputReferences: undefined,
    generateAudio: work.withAudio ?? undefined,
    providerOptions: {},
    abortSignal: signal,
  }
}

async function look(model: VideoModel, operation: JSONValue, { signal, provider }: WireSession) {
  const status = await model.doStatus?.({ operation, abortSignal: signal })
  if (status === undefined) throw jobLost(provider)
  return status
}

/** Evaluates the vendor's own answer first: a package may treat a refusal as a result without a video, and throw. */
function readProgress(
  vendor: VideoModelVendor,
  session: WireSession,
  status: unknown,
  { progress, seconds, isLost, failure }: VideoFacts,
): MediaProgress {
  const { provider } = session
  if (isLost === true) throw jobLost(provider)
  if (failure !== undefined) throw jobFailed(provider, failure)
  if (!isStatus(status)) throw status
  if (status.status === 'error') throw jobFailed(provider, { message: status.error })
  if (status.status === 'pending') {
    return { kind: 'running', progress: progress ?? null, pollAfterMs: vendor.pollAfterMs }
  }
  const files = status.videos.flatMap((video): OutputFile[] => {
    if (video.type === 'url') return [vendor.toFile?.(video.url, session) ?? { kind: 'url', url: video.url }]
    if (video.type === 'uploaded') return []
    const bytes = typeof video.data === 'string' ? Buffer.from(video.data, 'base64') : video.data
    return [{ kind: 'bytes', bytes, contentType: video.mediaType }]
  })
  if (files.length === 0) throw invalidAnswer(provider, 'a video')
  return { kind: 'done', output: { files, ...(seconds === undefined ? {} : { seconds }) } }
}

function isStatus(value: unknown): value is VideoStatus {
  return isRecord(value) && !(value instanceof Error) && typeof value['status'] === 'string'
}

// Each package has its own form of operation. In all of them the id is the first string.
function readId(operation: unknown): string | undefined {
  if (typeof operation === 'string') return operation
  return isRecord(operation) ? Object.values(operation).find((value) => typeof value === 'string') : undefined
}

function isJson(value: unknown): value is JSONValue {
  return value !== undefined && typeof value !== 'function'
}

/** Keeps the last successful JSON answer that the package reads, because packages return less than their vendors report. */
interface AnswerTap {
  readonly fetch: typeof globalThis.fetch
  readAnswer(): unknown
}

function createAnswerTap(fetch: typeof globalThis.fetch): AnswerTap {
  let last: string | undefined
  return {
    async fetch(input, init) {
      const response = await fetch(input, init)
      const text = await response.text()
      if (response.ok) last = text
      return new Response(text === '' ? null : text, {
        status: response.status,
        statusText: response.statusText,
        headers: response.headers,
      })
    },
    readAnswer: () => parseJson(last ?? ''),
  }
}
