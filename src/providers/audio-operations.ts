import type { Cancellation } from '../kernel/cancellation.ts'
import type { SpeechWork } from './media-work.ts'
import type { UpstreamTimeouts } from './upstream-timeouts.ts'

/** Text into audio. Throws an `UpstreamError` and nothing else. */
export interface SpeechOperation {
  speak(call: SpeechCall): Promise<SpeechAnswer>
  /** What can be asked for as `voice`. */
  voices(call: VoicesCall): Promise<readonly Voice[]>
}

export interface SpeechCall {
  readonly work: SpeechWork
  readonly upstreamModel: string
  readonly requestId: string
  readonly timeouts: UpstreamTimeouts
  readonly cancellation: Cancellation
  /** Called when the upstream can have begun to read the request. */
  readonly onSent?: (() => void) | undefined
}

export interface SpeechAnswer {
  readonly contentType: string
  /** As it arrives. Stopping the iteration cancels the upstream. */
  readonly chunks: AsyncIterable<Uint8Array>
}

interface VoicesCall {
  readonly timeouts: UpstreamTimeouts
  readonly cancellation: Cancellation
}

export interface Voice {
  readonly id: string
  readonly name: string
  /** ISO 639-1, or `multi`. */
  readonly language: string
  readonly gender: 'female' | 'male' | 'neutral'
  readonly previewUrl?: string
}

/** Audio into text. Throws an `UpstreamError` and nothing else. */
export type TranscriptionOperation = (call: TranscriptionCall) => Promise<Transcript>

export interface TranscriptionCall {
  readonly audio: AudioFile
  /** ISO 639-1; null lets the upstream find out. */
  readonly language: string | null
  readonly prompt: string | null
  readonly temperature: number | null
  /** Whether the words' times are wanted beside the segments'. */
  readonly withWords: boolean
  /** Into English, whatever was spoken. */
  readonly isTranslation: boolean
  readonly upstreamModel: string
  readonly requestId: string
  readonly timeouts: UpstreamTimeouts
  readonly cancellation: Cancellation
  /** Called when the upstream can have begun to read the request. */
  readonly onSent?: (() => void) | undefined
}

/** On disk: a client may send 25 MB, and many may do so at once. */
export interface AudioFile {
  readonly path: string
  readonly filename: string
  readonly contentType: string
  readonly bytes: number
  /** Measured from the file. */
  readonly durationSeconds: number
}

export interface Transcript {
  readonly text: string
  readonly language: string | null
  readonly segments: readonly TranscriptSegment[]
  readonly words: readonly TranscriptWord[]
  /** How long the upstream says the recording is. */
  readonly durationSeconds: number | null
}

export interface TranscriptSegment {
  readonly startSeconds: number
  readonly endSeconds: number
  readonly text: string
}

export interface TranscriptWord {
  readonly startSeconds: number
  readonly endSeconds: number
  readonly word: string
}
