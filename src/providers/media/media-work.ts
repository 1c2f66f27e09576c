/**
 * A request to a media model in terms that are the same for all vendors. It is stored with its task, so it is plain data. `File`
 * is a reference while the task is stored, and the bytes when a provider is called.
 */
export type MediaWork<File> =
  | ImageWork<File>
  | UpscaleWork<File>
  | BackgroundRemovalWork<File>
  | VideoWork<File>
  | MusicWork
  | SpeechWork

export interface ImageWork<File> {
  readonly kind: 'image'
  readonly prompt: string
  readonly count: number
  /** `<width>x<height>`. Null lets the model choose. */
  readonly size: string | null
  readonly aspectRatio: string | null
  readonly quality: string | null
  readonly style: string | null
  readonly background: 'transparent' | 'opaque' | 'auto' | null
  readonly outputFormat: 'png' | 'jpeg' | 'webp' | null
  readonly seed: number | null
  /** Images to edit. Empty for a new image. */
  readonly images: readonly File[]
  readonly mask: File | null
  /** Request members that the gateway does not define, for upstreams that speak the same wire. */
  readonly extra: Readonly<Record<string, unknown>>
}

export interface UpscaleWork<File> {
  readonly kind: 'upscale'
  readonly image: File
  readonly scale: 2 | 4
  readonly prompt: string | null
}

export interface BackgroundRemovalWork<File> {
  readonly kind: 'bg_remove'
  readonly image: File
  readonly outputFormat: 'png' | 'webp'
}

export interface VideoWork<File> {
  readonly kind: 'video'
  readonly prompt: string
  readonly image: File | null
  readonly durationSeconds: number
  /** `<width>:<height>`. Null lets the model choose. */
  readonly aspectRatio: string | null
  /** `480p`, `720p`, `1080p`, or `<width>x<height>`. */
  readonly resolution: string | null
  readonly seed: number | null
  readonly negativePrompt: string | null
  readonly withAudio: boolean | null
}

export interface MusicWork {
  readonly kind: 'music'
  readonly prompt: string
  readonly lyrics: string | null
  readonly isInstrumental: boolean
  readonly durationSeconds: number
  readonly outputFormat: 'mp3' | 'wav'
}

export interface SpeechWork {
  readonly kind: 'speech'
  readonly input: string
  /** An id from `voices`, or one of OpenAI's names, which each provider maps to one of its own voices. */
  readonly voice: string
  readonly format: AudioFormat
  readonly speed: number
  readonly instructions: string | null
  readonly language: string | null
}

export const AUDIO_FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const
export type AudioFormat = (typeof AUDIO_FORMATS)[number]

export const CONTENT_TYPE_OF_AUDIO: Readonly<Record<AudioFormat, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
}
