import type { MediaProgress, OutputFile } from '../../../media/media-operation.ts'
import { isRecord, readNumber, readString } from '../../exchange/read-json.ts'
import { invalidAnswer, jobFailed } from '../job-failure.ts'

/** Reads the output of a fal model: the URLs in `images`, `image` or `video`. */
export function readFalOutput(provider: string, result: unknown): MediaProgress {
  if (!isRecord(result)) throw invalidAnswer(provider, 'a result')
  const video = readFile(result['video'])
  if (video !== null) {
    const seconds = readNumber(result['video'], 'duration') ?? readNumber(result, 'duration')
    return { kind: 'done', output: { files: [video], ...(seconds === undefined ? {} : { seconds }) } }
  }
  const images = Array.isArray(result['images']) ? result['images'] : [result['image']]
  const files = images.flatMap((image) => readFile(image) ?? [])
  if (files.length === 0) throw invalidAnswer(provider, 'a file')
  // Fal returns a black image for a flagged one.
  const flags = result['has_nsfw_concepts']
  const shown = Array.isArray(flags) ? files.filter((_, index) => flags[index] !== true) : files
  if (shown.length === 0) {
    throw jobFailed(provider, { message: 'The images were held back by the safety check.', code: 'nsfw' })
  }
  return { kind: 'done', output: { files: shown } }
}

function readFile(value: unknown): OutputFile | null {
  const url = readString(value, 'url')
  if (url === undefined) return null
  const inline = /^data:([\w.+-]+\/[\w.+-]+);base64,/.exec(url)
  if (inline === null) return { kind: 'url', url }
  const bytes = Buffer.from(url.slice(inline[0].length), 'base64')
  return { kind: 'bytes', bytes, contentType: inline[1] ?? 'application/octet-stream' }
}
