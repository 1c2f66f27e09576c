import type { InputFile, OutputFile } from '../../../media/media-operation.ts'
import type { ImageWork } from '../../../media/media-work.ts'
import { isRecord, readPath, readString } from '../../exchange/read-json.ts'
import { UntranslatableRequest } from '../../request/untranslatable-request.ts'
import { detectImageType } from '../detect-image-type.ts'
import { chooseAspectRatio, readShape } from '../../../streams/frame-shape.ts'
import { invalidAnswer, jobFailed } from '../job-failure.ts'
import type { MediaWire, WireSession } from '../media-wire.ts'
import { requestJson } from '../request-json.ts'
import { splitImages } from '../split-images.ts'

const IMAGES_MAX = 4
const RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9']
const LARGE_SIDE = 2048

/** Calls Imagen's API directly: both of Google's packages dropped it when the Gemini API stopped serving it. */
export const imagenWire: MediaWire<ImageWork<InputFile>> = {
  split: (work) => splitImages(work, IMAGES_MAX),
  async submit({ work, upstreamModel }, session) {
    if (work.images.length > 0) throw new UntranslatableRequest('image', 'Imagen makes new images only.')
    const answer = await requestJson(session, {
      url: `${session.baseUrl}/models/${encodeURIComponent(upstreamModel)}:predict`,
      method: 'POST',
      headers: { 'x-goog-api-key': session.apiKey },
      body: { instances: [{ prompt: work.prompt }], parameters: toParameters(work) },
    })
    const predictions = readPredictions(session, answer)
    const files = predictions.flatMap(readImage)
    if (files.length === 0) throw describeFilter(session, predictions)
    return { kind: 'done', output: { files } }
  },
}

function toParameters(work: ImageWork<InputFile>) {
  const ratio = chooseAspectRatio(work, RATIOS)
  const shape = readShape(work.size)
  const isLarge = shape !== null && Math.max(shape.width, shape.height) >= LARGE_SIDE
  const { count, outputFormat } = work
  return {
    sampleCount: count,
    // Without this, filtered images are omitted without a reason.
    includeRaiReason: true,
    ...(ratio === null ? {} : { aspectRatio: ratio }),
    ...(isLarge ? { sampleImageSize: '2K' } : {}),
    ...(outputFormat === 'png' || outputFormat === 'jpeg'
      ? { outputOptions: { mimeType: `image/${outputFormat}` } }
      : {}),
  }
}

// If the filter blocks all images, the answer may be an empty object.
function readPredictions({ provider }: WireSession, answer: unknown): readonly unknown[] {
  const predictions = readPath(answer, 'predictions')
  if (Array.isArray(predictions)) return predictions
  if (isRecord(answer) && Object.keys(answer).length === 0) return []
  throw invalidAnswer(provider, 'predictions')
}

function readImage(prediction: unknown): OutputFile[] {
  const data = readString(prediction, 'bytesBase64Encoded')
  if (data === undefined || data === '') return []
  const bytes = Buffer.from(data, 'base64')
  const revisedPrompt = readString(prediction, 'prompt')
  const contentType = readString(prediction, 'mimeType') ?? detectImageType(bytes)
  return [{ kind: 'bytes', bytes, contentType, ...(revisedPrompt === undefined ? {} : { revisedPrompt }) }]
}

function describeFilter({ provider }: WireSession, predictions: readonly unknown[]) {
  const reasons = predictions.flatMap((prediction) => readString(prediction, 'raiFilteredReason') ?? [])
  // Images without bytes and without a filter reason make the answer invalid.
  if (predictions.length > 0 && reasons.length === 0) return invalidAnswer(provider, 'the bytes of an image')
  const message = reasons.join(' ') || 'The images were held back by the safety filter.'
  return jobFailed(provider, { message, code: 'content_policy_violation' })
}
