import { createFalProvider } from '../../src/providers/ai-sdk/media/fal-provider.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { falWire } from '../upstreams/media/fal-wire.ts'
import { imageWork, inputImage, inputImageUri, videoWork } from '../upstreams/media/media-call.ts'
import type { VendorRequest, VendorWire } from '../upstreams/media/vendor-server.ts'

/** One operation of one vendor, what is asked of it, and what the vendor must hear. */
export interface MediaCase {
  readonly name: string
  readonly member: 'image' | 'upscale' | 'backgroundRemoval' | 'video'
  readonly createProvider: (options: { apiKeys: string[]; baseUrl: string }) => Provider
  readonly wire: VendorWire
  readonly basePath: string
  readonly upstreamModel: string
  readonly work: unknown
  readonly submitRequest: string
  readonly submitBody: unknown
  /** Whether the work goes on by a job; done at once otherwise. */
  readonly isJob: boolean
  readonly resultKind?: 'bytes'
  readonly cancelRequest?: string
  readonly throttledBody: unknown
  /** A key as the operator gives it, and what a request shows of it. */
  readonly key: (number: number) => string
  readonly readKey: (request: VendorRequest | undefined) => unknown
}

const byHeader = {
  key: (number: number) => `key-${number}`,
  readKey: (request: VendorRequest | undefined) => request?.headers.authorization,
}

const fal = {
  createProvider: createFalProvider,
  wire: falWire,
  basePath: '',
  isJob: true,
  throttledBody: { detail: 'Too many requests' },
  ...byHeader,
} as const

export const MEDIA_CASES: readonly MediaCase[] = [
  {
    ...fal,
    name: 'images by fal',
    member: 'image',
    upstreamModel: 'fal-ai/flux/dev',
    work: imageWork({ size: '1024x768', seed: 7, outputFormat: 'png' }),
    submitRequest: 'POST /fal-ai/flux/dev',
    submitBody: {
      prompt: 'a boat',
      num_images: 1,
      image_size: { width: 1024, height: 768 },
      seed: 7,
      output_format: 'png',
    },
    cancelRequest: 'PUT /fal-ai/flux/requests/764cabcf-b745/cancel',
  },
  {
    ...fal,
    name: 'videos by fal',
    member: 'video',
    upstreamModel: 'fal-ai/veo3.1/fast',
    work: videoWork({ image: inputImage, aspectRatio: '9:16', resolution: '1080p', withAudio: false }),
    submitRequest: 'POST /fal-ai/veo3.1/fast/image-to-video',
    submitBody: {
      prompt: 'a boat',
      image_url: inputImageUri,
      duration: '6s',
      aspect_ratio: '9:16',
      resolution: '1080p',
      generate_audio: false,
    },
    cancelRequest: 'PUT /fal-ai/veo3.1/requests/764cabcf-b745/cancel',
  },
  {
    ...fal,
    name: 'upscaling by fal',
    member: 'upscale',
    upstreamModel: 'fal-ai/clarity-upscaler',
    work: { kind: 'upscale', image: inputImage, scale: 4, prompt: 'a boat' },
    submitRequest: 'POST /fal-ai/clarity-upscaler',
    submitBody: { image_url: inputImageUri, upscale_factor: 4, prompt: 'a boat' },
    cancelRequest: 'PUT /fal-ai/clarity-upscaler/requests/764cabcf-b745/cancel',
  },
  {
    ...fal,
    name: 'background removal by fal',
    member: 'backgroundRemoval',
    upstreamModel: 'fal-ai/birefnet',
    work: { kind: 'bg_remove', image: inputImage, outputFormat: 'webp' },
    submitRequest: 'POST /fal-ai/birefnet',
    submitBody: { image_url: inputImageUri, output_format: 'webp' },
    cancelRequest: 'PUT /fal-ai/birefnet/requests/764cabcf-b745/cancel',
  },
]
