import type { InputFile } from '../../media/media-operation.ts'

/**
 * Options for the models of the packages. Narrower than the packages' own types, whose versions differ, so that they fit all of
 * them.
 */
export interface ImageModelOptions {
  prompt: string
  n: number
  size: `${number}x${number}` | undefined
  aspectRatio: `${number}:${number}` | undefined
  seed: number | undefined
  files: ModelFile[] | undefined
  mask: ModelFile | undefined
  providerOptions: VendorOptions
  abortSignal: AbortSignal
}

export interface VideoModelOptions {
  prompt: string
  n: 1
  aspectRatio: `${number}:${number}` | undefined
  resolution: `${number}x${number}` | undefined
  duration: number
  fps: undefined
  seed: number | undefined
  image: ModelFile | { type: 'url'; url: string } | undefined
  frameImages: undefined
  inputReferences: undefined
  generateAudio: boolean | undefined
  providerOptions: VendorOptions
  abortSignal: AbortSignal
}

/** By vendor key. */
export type VendorOptions = Record<string, Record<string, OptionValue>>
type OptionValue = string | number | boolean | Record<string, string>

interface ModelFile {
  type: 'file'
  data: Uint8Array
  mediaType: string
}

export function toModelFile({ bytes, contentType }: InputFile): ModelFile {
  return { type: 'file', data: bytes, mediaType: contentType }
}

export function toAspectRatio(text: string | null): `${number}:${number}` | undefined {
  return text !== null && isAspectRatio(text) ? text : undefined
}

function isAspectRatio(text: string): text is `${number}:${number}` {
  return /^\d+:\d+$/.test(text)
}
