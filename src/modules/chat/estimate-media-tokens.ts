import type { ContentPart } from '../../wires/openai-chat/chat-request.ts'
import type { TokenFamily } from './estimate-family.ts'
import { isSound } from './sound-parts.ts'
import { findPayload, readBytes, readInlineImageSize } from '../../kernel/inline-image-size.ts'
import type { ImageSize } from '../../kernel/read-image-size.ts'

/** What is in a message beside plain text. */
export interface MediaTokens {
  /** Characters that the client wrote as text. */
  readonly textLength: number
  /** Characters of the request that are media and therefore not counted as text. */
  readonly payloadLength: number
  readonly tokens: number
  /** The part of the tokens that may be billed as sound: sound itself, and the track of a video. */
  readonly soundTokens: number
}

/** Counts at least this for every part, which is what the gateway counts itself where an upstream reports nothing. */
const PART_TOKENS_MIN = 1024
const VIDEO_TOKENS_MIN = 2048

const AUDIO_TOKENS_PER_SECOND = 40
const VIDEO_TOKENS_PER_SECOND = 320
const SOUND_OF_VIDEO = AUDIO_TOKENS_PER_SECOND / VIDEO_TOKENS_PER_SECOND
/** Below this nothing can be understood any more: eight kilobits for MP3, less for codecs made for speech. */
const MP3_BYTES_PER_SECOND_MIN = 1000
const AUDIO_BYTES_PER_SECOND_MIN = 500
const VIDEO_BYTES_PER_SECOND_MIN = 2500

/** A page of a document costs its words and its picture, and can be small when compressed. */
const DOCUMENT_TOKENS_PER_BYTE = 4
const DOCUMENT_TOKENS_MIN = 8192

/** `longestTokens` stands for what only the upstream can see: no prompt is longer than the model's context. */
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

// Uncompressed sound says in its header how long it is; by its bytes alone it would count sixty times as much.
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
  // Plain text cannot make more tokens than it has bytes.
  if (data.startsWith('data:text/')) return Math.max(bytes, PART_TOKENS_MIN)
  return DOCUMENT_TOKENS_MIN + bytes * DOCUMENT_TOKENS_PER_BYTE
}

/** At most so many: a data URI that is not base64 holds no more bytes than characters. */
export function decodedBytes(data: string): number {
  return data.startsWith('data:') && findPayload(data) === -1 ? data.length : Math.ceil((data.length * 3) / 4)
}

/** The header of a GIF has the size of its canvas, which frames may exceed. */
function readBillableSize(dataUri: string): ImageSize | null {
  const size = readInlineImageSize(dataUri)
  return size?.format === 'GIF' ? null : size
}
