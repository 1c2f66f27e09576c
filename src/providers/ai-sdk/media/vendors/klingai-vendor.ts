import { createHmac } from 'node:crypto'

import type { InputFile } from '../../../media/media-operation.ts'
import type { VideoWork } from '../../../media/media-work.ts'
import { UpstreamError } from '../../../failures/upstream-error.ts'
import { readNumber, readPath, readString } from '../../exchange/read-json.ts'
import { toBase64 } from '../data-uri.ts'
import { chooseAspectRatio, chooseDuration, readLines } from '../../../streams/frame-shape.ts'
import { invalidAnswer, jobFailed, jobLost } from '../job-failure.ts'
import type { MediaVendor } from '../media-operation-over-wire.ts'
import type { WireSession } from '../media-wire.ts'
import { requestJson, type JsonRequest } from '../request-json.ts'

const POLL_AFTER_MS = 5_000
const TOKEN_SECONDS = 1_800
const CLOCK_SKEW_SECONDS = 5
const DURATIONS = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
const OLDER_DURATIONS = [5, 10]

/** Calls Kling's API directly, because it has no published package. Jobs cannot be cancelled. */
export const klingaiVideos: MediaVendor<VideoWork<InputFile>> = {
  provider: 'klingai',
  defaultBaseUrl: 'https://api-singapore.klingai.com',
  wire: {
    async submit({ work, upstreamModel, requestId }, session) {
      const kind = kindOf(work)
      const answer = await requestKling(session, {
        url: `${session.baseUrl}/v1/videos/${kind}`,
        method: 'POST',
        body: { model_name: upstreamModel, external_task_id: requestId, ...toBody(work, upstreamModel) },
      })
      const id = readString(answer, 'data', 'task_id')
      if (id === undefined) throw invalidAnswer(session.provider, 'the id of a task')
      return { kind: 'started', job: { id, data: { kind } }, pollAfterMs: POLL_AFTER_MS }
    },

    async check({ job }, session) {
      const kind = readString(job.data, 'kind') ?? 'text2video'
      const answer = await requestKling(session, { url: addressOf(session, kind, job.id) })
      const state = readString(answer, 'data', 'task_status')
      if (state === 'failed') {
        throw jobFailed(session.provider, { message: readString(answer, 'data', 'task_status_msg') })
      }
      if (state !== 'succeed') return { kind: 'running', progress: null, pollAfterMs: POLL_AFTER_MS }
      const videos = readPath(answer, 'data', 'task_result', 'videos')
      const [video]: unknown[] = Array.isArray(videos) ? videos : []
      const url = readString(video, 'url')
      if (url === undefined) throw invalidAnswer(session.provider, 'a video')
      const seconds = Number(readString(video, 'duration') ?? Number.NaN)
      return {
        kind: 'done',
        output: { files: [{ kind: 'url', url }], ...(seconds > 0 ? { seconds } : {}) },
      }
    },

    // A task can also be looked up by the id that the gateway gave it.
    async find({ work, requestId }, session) {
      const kind = kindOf(work)
      try {
        const answer = await requestKling(session, { url: addressOf(session, kind, requestId) })
        const id = readString(answer, 'data', 'task_id')
        return id === undefined ? null : { id, data: { kind } }
      } catch (error) {
        if (error instanceof UpstreamError && error.details.status === 404) return null
        throw error
      }
    },
  },
}

function kindOf({ image }: VideoWork<InputFile>): 'text2video' | 'image2video' {
  return image === null ? 'text2video' : 'image2video'
}

function toBody(work: VideoWork<InputFile>, model: string) {
  const durations = /v3/.test(model) ? DURATIONS : OLDER_DURATIONS
  const ratio = chooseAspectRatio({ aspectRatio: work.aspectRatio, size: work.resolution }, [
    '16:9',
    '9:16',
    '1:1',
  ])
  const lines = readLines(work.resolution)
  return {
    prompt: work.prompt,
    duration: String(chooseDuration(work.durationSeconds, durations)),
    // A video that starts from an image keeps the image's frame.
    ...(work.image === null ? {} : { image: toBase64(work.image) }),
    ...(work.image !== null || ratio === null ? {} : { aspect_ratio: ratio }),
    ...(work.negativePrompt === null ? {} : { negative_prompt: work.negativePrompt }),
    ...(work.withAudio === null ? {} : { sound: work.withAudio ? 'on' : 'off' }),
    ...(lines === null ? {} : { mode: lines > 720 ? 'pro' : 'std' }),
  }
}

async function requestKling(session: WireSession, request: JsonRequest): Promise<unknown> {
  const answer = await requestJson(session, {
    ...request,
    headers: { authorization: `Bearer ${signToken(session)}` },
    describeError: (body) => describeCode(session, body),
  })
  const failure = describeCode(session, answer)
  if (failure !== null) throw failure
  return answer
}

// Kling's own codes are more precise than its HTTP statuses, and a failure may have a successful status.
const STATUS_OF_CODE: readonly (readonly [from: number, to: number, status: number])[] = [
  [1000, 1004, 401],
  [1100, 1103, 429],
  [1200, 1202, 400],
  [1203, 1203, 404],
  [1300, 1301, 422],
  [1302, 1304, 429],
  [5000, 5999, 503],
]

function describeCode({ provider }: WireSession, answer: unknown): UpstreamError | null {
  const code = readNumber(answer, 'code') ?? 0
  if (code === 0) return null
  const status = STATUS_OF_CODE.find(([from, to]) => code >= from && code <= to)?.[2] ?? 502
  if (status === 404) return jobLost(provider)
  const upstreamMessage = readString(answer, 'message')
  return new UpstreamError(`${provider} answered with code ${code}`, {
    failure: 'status',
    provider,
    status,
    upstreamCode: status === 422 ? 'content_policy_violation' : String(code),
    ...(upstreamMessage === undefined ? {} : { upstreamMessage }),
  })
}

/** Returns a token signed with the key, which has the form `<access key>:<secret key>`. */
function signToken({ apiKey, nowMs }: WireSession): string {
  const separator = apiKey.indexOf(':')
  const [accessKey, secretKey] = [apiKey.slice(0, separator), apiKey.slice(separator + 1)]
  const nowSeconds = Math.floor(nowMs() / 1000)
  const claims = { iss: accessKey, exp: nowSeconds + TOKEN_SECONDS, nbf: nowSeconds - CLOCK_SKEW_SECONDS }
  const signed = [{ alg: 'HS256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${signed}.${createHmac('sha256', secretKey).update(signed).digest('base64url')}`
}

function addressOf({ baseUrl }: WireSession, kind: string, id: string): string {
  return `${baseUrl}/v1/videos/${kind}/${encodeURIComponent(id)}`
}
