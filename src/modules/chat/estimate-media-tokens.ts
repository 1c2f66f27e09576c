import type { ContentPart } from '../../wires/openai-chat/chat-request.ts'
import type { TokenFamily } from './estimate-family.ts'
import { isSound } from './sound-parts.ts'
import { findPayload, readBytes, readInlineImageSize } from '../../kernel/inline-image-size.ts'
import type { ImageSize } from '../../kernel/read-image-size.ts'

/** The parts of a message that are not plain text. */
export interface MediaTokens {
  /** Characters that the client sent as text. */
  readonly textLength: number
  /** Characters of the request that are media and are therefore not counted as text. */
  readonly payloadLength: number
  readonly tokens: number
  /** The tokens that may be billed as audio: audio parts, and the sound track of a video. */
  readonly soundTokens: number
}

/** Minimum per part. The gateway counts this much itself if an upstream reports no usage. */
const PART_TOKENS_MIN = 1024
const VIDEO_TOKENS_MIN = 2048

const AUDIO_TOKENS_PER_SECOND = 40
const VIDEO_TOKENS_PER_SECOND = 320
const SOUND_OF_VIDEO = AUDIO_TOKENS_PER_SECOND / VIDEO_TOKENS_PER_SECOND
/** Audio below these rates is unintelligible: 8 kbit/s for MP3, less for speech codecs. */
const MP3_BYTES_PER_SECOND_MIN = 1000
const AUDIO_BYTES_PER_SECOND_MIN = 500
const VIDEO_BYTES_PER_SECOND_MIN = 2500

/** A page of a document is billed for its words and for its image, and can be small when compressed. */
const DOCUMENT_TOKENS_PER_BYTE = 4
const DOCUMENT_TOKENS_MIN = 8192

/**
 * Estimates the tokens of media parts.
 * @param longestTokens the model's context, used for media that only the upstream can fetch
 */
export function estimateMediaTokens(
  parts: readonly ContentPart[],
  family: TokenFamily,
  longestTokens: number,
): MediaTokens {
  let textLength = 0
  let payloadLength = 0
  let imageTokens = 0
  let otherTokens = 0
  let soundTokens = 0
  for (const part of parts) {
    const before = imageTokens + otherTokens
    switch (part.type) {
      case 'image_url': {
        const { url, detail } = part.image_url
        const isInline = url.startsWith('data:')
        const size = isInline ? readBillableSize(url) : null
        if (isInline) payloadLength += url.length
        imageTokens += Math.max(Math.ceil(family.imageTokens(size, detail)), PART_TOKENS_MIN)
        break
      }
      case 'input_audio': {
        const { data, format } = part.input_audio
        payloadLength += data.length
        otherTokens += audioTokens(data, format)
        break
      }
      case 'video_url': {
        const { url } = part.video_url
        const isInline = url.startsWith('data:')
        if (isInline) payloadLength += url.length
        otherTokens += isInline ? videoTokens(url) : longestTokens
        break
      }
      case 'file': {
        const data = part.file.file_data
        const isInline = typeof data === 'string' && !data.startsWith('http')
        if (isInline) payloadLength += data.length
        otherTokens += isInline ? documentTokens(data) : longestTokens
        break
      }
      case 'text':
        textLength += part.text.length
        break
      case 'refusal':
        textLength += part.refusal.length
        break
    }
    if (part.type === 'text' || part.type === 'refusal') continue
    const tokens = imageTokens + otherTokens - before
    if (isSound(part)) soundTokens += tokens
    else if (part.type === 'video_url') soundTokens += Math.ceil(tokens * SOUND_OF_VIDEO)
  }
  return {
    textLength,
    payloadLength,
    tokens: imageTokens + Math.min(otherTokens, Math.max(longestTokens, DOCUMENT_TOKENS_MIN)),
    soundTokens,
  }
}

function audioTokens(data: string, format: string): number {
  const bytes = decodedBytes(data)
  const bytesPerSecond =
    format === 'wav'
      ? (readWaveBytesPerSecond(data) ?? AUDIO_BYTES_PER_SECOND_MIN)
      : format === 'mp3'
        ? MP3_BYTES_PER_SECOND_MIN
        : AUDIO_BYTES_PER_SECOND_MIN
  return Math.max(Math.ceil((bytes / bytesPerSecond) * AUDIO_TOKENS_PER_SECOND), PART_TOKENS_MIN)
}

const WAVE_HEADER_BYTES = 36

// Uncompressed audio has its byte rate in the header. Counted by bytes alone, it would have sixty times as many tokens.
export function readWaveBytesPerSecond(data: string): number | null {
  const head = readBytes(data, Math.max(findPayload(data), 0), 0, WAVE_HEADER_BYTES)
  if (head.length < WAVE_HEADER_BYTES || head.toString('latin1', 0, 4) !== 'RIFF') return null
  if (head.toString('latin1', 8, 16) !== 'WAVEfmt ') return null
  const bytesPerSecond = Math.min(head.readUInt32LE(28), head.readUInt32LE(24) * head.readUInt16LE(32))
  return Math.max(bytesPerSecond, AUDIO_BYTES_PER_SECOND_MIN)
}

function videoTokens(dataUri: string): number {
  const seconds = decodedBytes(dataUri) / VIDEO_BYTES_PER_SECOND_MIN
  return Math.max(Math.ceil(seconds * VIDEO_TOKENS_PER_SECOND), VIDEO_TOKENS_MIN)
}

function documentTokens(data: string): number {
  const bytes = decodedBytes(data)
  // Plain text has at most one token per byte.
  if (data.startsWith('data:text/')) return Math.max(bytes, PART_TOKENS_MIN)
  return DOCUMENT_TOKENS_MIN + bytes * DOCUMENT_TOKENS_PER_BYTE
}

/** Returns an upper bound of the decoded bytes. A data URI that is not base64 has at most one byte per character. */
export function decodedBytes(data: string): number {
  return data.startsWith('data:') && findPayload(data) === -1 ? data.length : Math.ceil((data.length * 3) / 4)
}

/** Returns null for a GIF: its header has the size of the canvas, which frames may exceed. */
function readBillableSize(dataUri: string): ImageSize | null {
  const size = readInlineImageSize(dataUri)
  return size?.format === 'GIF' ? null : size
}
