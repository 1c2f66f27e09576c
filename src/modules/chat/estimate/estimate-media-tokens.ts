import { isUtf8 } from 'node:buffer'
import { parseDataUri } from '../../../kernel/media/data-uri.ts'
import { findPayload, readBytes, readInlineImageSize } from '../../../kernel/media/inline-image-size.ts'
import type { ImageSize } from '../../../kernel/media/read-image-size.ts'
import { recogniseMedia } from '../../../kernel/media/recognise-media.ts'
import type { ChatRequest, ContentPart } from '../../../wires/openai-chat/chat-request.ts'
import {
  isMediaPart,
  requireMediaPart,
  type MediaPart,
  type MediaReading,
} from '../../../wires/openai-chat/read-media-part.ts'
import type { TokenFamily } from './estimate-family.ts'
import { isAudio } from '../audio/audio-parts.ts'

/** The parts of a message that are not plain text. */
export interface MediaTokens {
  /** Characters that the client sent as text. */
  readonly textLength: number
  /** Characters of the request that are media and are therefore not counted as text. */
  readonly payloadLength: number
  readonly tokens: number
  /** The tokens that may be billed as audio: audio parts, and the sound track of a video. */
  readonly audioTokens: number
}

/** Minimum per part. */
const PART_TOKENS_MIN = 1024

const AUDIO_TOKENS_PER_SECOND = 40
const VIDEO_TOKENS_PER_SECOND = 320
const AUDIO_SHARE_OF_VIDEO = AUDIO_TOKENS_PER_SECOND / VIDEO_TOKENS_PER_SECOND
/** No frame of MP3 has fewer: 8 kbit/s. */
const MP3_BYTES_PER_SECOND_MIN = 1000

/** A byte that is not UTF-8 becomes a replacement character, which has three. */
const TOKENS_PER_OTHER_BYTE = 3
/** For models whose context is smaller than a short document. */
const UNMEASURED_TOKENS_MIN = 8192

/**
 * Returns an upper bound of the tokens of media parts.
 * @param longestTokens the model's context, used for media whose size only the vendor can tell: a document by its pages, a video
 *   by its length, and all that is fetched from an address. Bytes bound none of them, because a small file may have many pages
 */
export function estimateMediaTokens(
  parts: readonly ContentPart[],
  family: TokenFamily,
  longestTokens: number,
): MediaTokens {
  const unmeasuredTokens = Math.max(longestTokens, UNMEASURED_TOKENS_MIN)
  let textLength = 0
  let payloadLength = 0
  let imageTokens = 0
  let otherTokens = 0
  let audioTokens = 0
  for (const part of parts) {
    if (!isMediaPart(part)) {
      textLength += part.type === 'text' ? part.text.length : part.refusal.length
      continue
    }
    const reading = requireMediaPart(part, (member) => `messages.${member}`)
    const source = sourceOf(part)
    if (reading.place === 'inline') payloadLength += source.length
    const tokens = Math.ceil(countPart(part, reading, { family, unmeasuredTokens }))
    if (reading.kind === 'image') imageTokens += tokens
    else otherTokens += tokens
    if (isAudio(part)) audioTokens += tokens
    else if (reading.kind === 'video') audioTokens += Math.ceil(tokens * AUDIO_SHARE_OF_VIDEO)
  }
  return {
    textLength,
    payloadLength,
    tokens: imageTokens + Math.min(otherTokens, unmeasuredTokens),
    audioTokens,
  }
}

/** Returns the parts of all messages together, because they share the context. */
export function partsOf({ messages }: ChatRequest): readonly ContentPart[] {
  let parts: ContentPart[] | null = null
  for (const { content } of messages) if (Array.isArray(content)) (parts ??= []).push(...content)
  return parts ?? NO_PARTS
}

const NO_PARTS: readonly ContentPart[] = []

/** Whether the tokens of all media are known from the request alone: images of known size, and text. */
export function isMeasured(body: ChatRequest): boolean {
  return partsOf(body).every((part) => {
    if (!isMediaPart(part)) return true
    const { kind, place } = requireMediaPart(part, (member) => `messages.${member}`)
    if (place !== 'inline') return false
    return kind === 'text' || (part.type === 'image_url' && readBillableSize(part.image_url.url) !== null)
  })
}

interface Bounds {
  readonly family: TokenFamily
  readonly unmeasuredTokens: number
}

function countPart(
  part: MediaPart,
  { kind, mediaType, recognised, place }: MediaReading,
  { family, unmeasuredTokens }: Bounds,
): number {
  const source = sourceOf(part)
  const isInline = place === 'inline'
  // Only a picture is sent as nothing else. Vendors read a file by what they find in it.
  if (!isInline && part.type !== 'image_url') return unmeasuredTokens
  if (part.type === 'file' && kind === 'image' && recognised === null) return unmeasuredTokens
  switch (kind) {
    case 'image': {
      const detail = part.type === 'image_url' ? part.image_url.detail : undefined
      const tokens = family.imageTokens(isInline ? readBillableSize(source) : null, detail)
      // A drawing is text, which a vendor could read as such.
      const textTokens = mediaType === DRAWING && isInline ? textFileTokens(source) : 0
      return Math.max(tokens, textTokens, PART_TOKENS_MIN)
    }
    case 'text':
      return Math.max(textFileTokens(source), PART_TOKENS_MIN)
    case 'audio':
      return audioTokens(source, recognised?.mediaType ?? null, unmeasuredTokens)
    case 'video':
    case 'document':
    case null:
      return unmeasuredTokens
  }
}

const DRAWING = 'image/svg+xml'

function audioTokens(data: string, mediaType: string | null, unmeasuredTokens: number): number {
  const bytesPerSecond =
    mediaType === 'audio/wav'
      ? readWaveBytesPerSecond(data)
      : mediaType === 'audio/mpeg' && beginsWithMpegFrame(data)
        ? MP3_BYTES_PER_SECOND_MIN
        : null
  // Silence takes almost no bytes in other formats.
  if (bytesPerSecond === null) return unmeasuredTokens
  return Math.max((decodedBytes(data) / bytesPerSecond) * AUDIO_TOKENS_PER_SECOND, PART_TOKENS_MIN)
}

const ID3 = 'ID3'
const ID3_HEAD_BYTES = 10
const FRAME_HEAD_BYTES = 4

/** Whether MP3 frames follow the tag, which other formats may have too. */
function beginsWithMpegFrame(data: string): boolean {
  const start = Math.max(findPayload(data), 0)
  const head = readBytes(data, start, 0, ID3_HEAD_BYTES)
  if (head.length < ID3_HEAD_BYTES) return false
  if (head.toString('latin1', 0, 3) !== ID3) return recogniseMedia(head) === 'mp3'
  // The length of the tag has seven bits in each byte.
  const tagBytes = head.subarray(6).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0)
  const frame = readBytes(data, start, ID3_HEAD_BYTES + tagBytes, FRAME_HEAD_BYTES)
  return recogniseMedia(frame) === 'mp3' && frame.toString('latin1', 0, 3) !== ID3
}

const WAVE_HEADER_BYTES = 36
/** Integers and floats. Other codecs do not keep to the byte rate of their header. */
const UNCOMPRESSED_TAGS: ReadonlySet<number> = new Set([1, 3])
/** Telephone quality in one channel. */
const WAVE_BYTES_PER_SECOND_MIN = 8000

/** Uncompressed audio has its byte rate in the header. Null for other audio. */
export function readWaveBytesPerSecond(data: string): number | null {
  const head = readBytes(data, Math.max(findPayload(data), 0), 0, WAVE_HEADER_BYTES)
  if (head.length < WAVE_HEADER_BYTES || head.toString('latin1', 0, 4) !== 'RIFF') return null
  if (head.toString('latin1', 8, 16) !== 'WAVEfmt ' || !UNCOMPRESSED_TAGS.has(head.readUInt16LE(20)))
    return null
  const samplesPerSecond = head.readUInt32LE(24)
  const sampleBytes = head.readUInt16LE(22) * Math.ceil(head.readUInt16LE(34) / 8)
  const claims = [
    head.readUInt32LE(28),
    samplesPerSecond * head.readUInt16LE(32),
    samplesPerSecond * sampleBytes,
  ]
  const bytesPerSecond = Math.min(...claims)
  return bytesPerSecond >= WAVE_BYTES_PER_SECOND_MIN ? bytesPerSecond : null
}

/** No tokenizer makes more tokens than bytes of UTF-8. */
function textFileTokens(source: string): number {
  const parsed = parseDataUri(source)
  if (parsed !== null && !parsed.isBase64) return source.length
  const bytes = Buffer.from(source.slice(parsed?.start ?? 0), 'base64')
  return isUtf8(bytes) ? bytes.length : bytes.length * TOKENS_PER_OTHER_BYTE
}

/** Returns an upper bound of the decoded bytes. A data URI that is not base64 has at most one byte per character. */
export function decodedBytes(data: string): number {
  const parsed = parseDataUri(data)
  return parsed !== null && !parsed.isBase64 ? data.length : Math.ceil((data.length * 3) / 4)
}

/** Returns null for a GIF: its header has the size of the canvas, which frames may exceed. */
function readBillableSize(dataUri: string): ImageSize | null {
  const size = readInlineImageSize(dataUri)
  return size?.format === 'GIF' ? null : size
}

function sourceOf(part: MediaPart): string {
  switch (part.type) {
    case 'image_url':
      return part.image_url.url
    case 'video_url':
      return part.video_url.url
    case 'input_audio':
      return part.input_audio.data
    case 'file':
      return part.file.file_data ?? ''
  }
}
