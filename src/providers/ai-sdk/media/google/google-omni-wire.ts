import type { InputFile, OutputFile } from '../../../media/media-operation.ts'
import type { VideoWork } from '../../../media/media-work.ts'
import type { UpstreamError } from '../../../failures/upstream-error.ts'
import { isRecord, readPath, readString } from '../../exchange/read-json.ts'
import { cancelByRequest } from '../cancel-by-request.ts'
import { toBase64 } from '../data-uri.ts'
import { chooseAspectRatio, chooseDuration, chooseResolution } from '../../../streams/frame-shape.ts'
import { toGoogleFile } from './google-file.ts'
import { invalidAnswer, jobFailed, jobLost } from '../job-failure.ts'
import type { MediaWire, WireSession } from '../media-wire.ts'
import { requestJson } from '../request-json.ts'

const POLL_AFTER_MS = 5_000
const DURATIONS = [3, 4, 5, 6, 7, 8, 9, 10]
const RUNNING: ReadonlySet<string> = new Set(['queued', 'pending', 'in_progress'])

/** Serves Gemini's video models, which answer in a background interaction. No package can start one without waiting for it. */
export const omniWire: MediaWire<VideoWork<InputFile>> = {
  async submit({ work, upstreamModel }, session) {
    const answer = await requestJson(session, {
      url: `${session.baseUrl}/interactions`,
      method: 'POST',
      headers: authorization(session),
      body: { model: upstreamModel, background: true, ...toInteraction(work) },
    })
    const id = readString(answer, 'id')
    if (id === undefined) throw invalidAnswer(session.provider, 'the id of an interaction')
    return { kind: 'started', job: { id }, pollAfterMs: POLL_AFTER_MS }
  },

  async check({ job }, session) {
    const answer = await requestJson(session, {
      url: addressOf(session, job.id),
      headers: authorization(session),
      describeError: (error, status) => describeLook(session, error, status),
    })
    const state = readString(answer, 'status') ?? ''
    if (RUNNING.has(state)) return { kind: 'running', progress: null, pollAfterMs: POLL_AFTER_MS }
    const file = readVideo(answer, session)
    if (file !== null) return { kind: 'done', output: { files: [file] } }
    // A refusal is a completed interaction that contains only text.
    if (state === 'completed') {
      throw jobFailed(session.provider, { message: readText(answer), code: 'content_policy_violation' })
    }
    throw jobFailed(session.provider, {
      message: readString(answer, 'error', 'message') ?? state,
      code: readString(answer, 'error', 'code'),
    })
  },

  cancel: ({ job }, session) =>
    cancelByRequest(session, {
      url: `${addressOf(session, job.id)}/cancel`,
      method: 'POST',
      headers: authorization(session),
    }),
}

function toInteraction(work: VideoWork<InputFile>) {
  const shape = { aspectRatio: work.aspectRatio, size: work.resolution }
  const ratio = chooseAspectRatio(shape, ['16:9', '9:16'])
  const resolution = chooseResolution(work.resolution, ['360p', '720p', '1080p', '4k'])
  // There is no member for the negative prompt, but the model follows it in the text.
  const prompt = work.negativePrompt === null ? work.prompt : `${work.prompt}\nAvoid: ${work.negativePrompt}`
  const { image } = work
  return {
    input:
      image === null
        ? prompt
        : [
            { type: 'image', data: toBase64(image), mime_type: image.contentType },
            { type: 'text', text: prompt },
          ],
    response_format: {
      type: 'video',
      delivery: 'uri',
      duration: `${chooseDuration(work.durationSeconds, DURATIONS)}s`,
      ...(ratio === null ? {} : { aspect_ratio: ratio }),
      ...(resolution === null ? {} : { resolution }),
    },
  }
}

// For an unknown id, the API reports a malformed one.
function describeLook({ provider }: WireSession, answer: unknown, status: number): UpstreamError | null {
  const isUnknown = /invalid interaction/i.test(readString(answer, 'error', 'message') ?? '')
  return status === 404 || (status === 400 && isUnknown) ? jobLost(provider) : null
}

function readVideo(answer: unknown, session: WireSession): OutputFile | null {
  const video = contentsOf(answer).find((content) => content['type'] === 'video')
  if (video === undefined) return null
  const uri = readString(video, 'uri')
  if (uri !== undefined && URL.canParse(uri)) return toGoogleFile(uri, session)
  const data = readString(video, 'data')
  if (data === undefined) return null
  const contentType = readString(video, 'mime_type') ?? 'video/mp4'
  return { kind: 'bytes', bytes: Buffer.from(data, 'base64'), contentType }
}

function readText(answer: unknown): string {
  const texts = contentsOf(answer).flatMap((content) => readString(content, 'text') ?? [])
  return texts.join(' ') || 'No video was made.'
}

function contentsOf(answer: unknown): Record<string, unknown>[] {
  const steps = readPath(answer, 'steps')
  if (!Array.isArray(steps)) return []
  return steps
    .filter((step) => readString(step, 'type') === 'model_output')
    .flatMap((step: unknown) => {
      const content = readPath(step, 'content')
      return Array.isArray(content) ? content.filter(isRecord) : []
    })
}

function addressOf({ baseUrl }: WireSession, id: string): string {
  return `${baseUrl}/interactions/${encodeURIComponent(id)}`
}

function authorization({ apiKey }: WireSession): Readonly<Record<string, string>> {
  return { 'x-goog-api-key': apiKey }
}
