import type { InputFile } from '../../../media/media-operation.ts'
import type { ImageWork, VideoWork } from '../../../media/media-work.ts'
import { toDataUri } from '../data-uri.ts'
import { chooseAspectRatio, chooseDuration, chooseResolution } from '../../../streams/frame-shape.ts'
import { toImageOptions } from '../image-model-wire.ts'
import type { WireSession } from '../media-wire.ts'
import {
  toAspectRatio,
  type ImageModelOptions,
  type VendorOptions,
  type VideoModelOptions,
} from '../model-options.ts'
import { toVideoOptions } from '../video-model-wire.ts'
import { lookupTable } from '../../../../kernel/lookup-table.ts'

/** The endpoint for a piece of work, and the options for the package. */
export interface FalRequest<Options> {
  readonly endpoint: string
  readonly options: Options
}

type FalOptions = NonNullable<VendorOptions['fal']>

interface FalImageModel {
  /** Endpoint for edits. Default: the model's own endpoint. */
  readonly editEndpoint?: (work: ImageWork<InputFile>) => string
  /** Endpoint for new images, if it is not the model's own. */
  readonly newEndpoint?: string
  /** Ratios that the model accepts instead of a size. */
  readonly aspectRatios?: readonly string[]
  readonly imagesMax?: number
  readonly lacksSeed?: boolean
  readonly extra?: (work: ImageWork<InputFile>) => FalOptions
}

const KONTEXT = 'fal-ai/flux-pro/kontext'
const KONTEXT_RATIOS = ['21:9', '16:9', '4:3', '3:2', '1:1', '2:3', '3:4', '9:16', '9:21']
const IDEOGRAM_SPEEDS = lookupTable<string>({
  low: 'TURBO',
  standard: 'BALANCED',
  medium: 'BALANCED',
  high: 'QUALITY',
  hd: 'QUALITY',
})

/** Peculiarities of models. Models that are not listed accept what most models accept. */
const IMAGE_MODELS = lookupTable<FalImageModel>({
  'fal-ai/flux/dev': { editEndpoint: () => 'fal-ai/flux/dev/image-to-image' },
  'fal-ai/flux/schnell': { editEndpoint: () => 'fal-ai/flux/schnell/redux' },
  'fal-ai/flux-pro/v1.1': { editEndpoint: () => 'fal-ai/flux-pro/v1.1/redux' },
  [KONTEXT]: {
    newEndpoint: `${KONTEXT}/text-to-image`,
    editEndpoint: ({ images }) => (images.length > 1 ? `${KONTEXT}/multi` : KONTEXT),
    aspectRatios: KONTEXT_RATIOS,
  },
  'fal-ai/recraft/v3/text-to-image': {
    editEndpoint: () => 'fal-ai/recraft/v3/image-to-image',
    imagesMax: 1,
    lacksSeed: true,
    extra: ({ style }) => (style === null ? {} : { style }),
  },
  'fal-ai/ideogram/v3': {
    editEndpoint: ({ mask }) => (mask === null ? 'fal-ai/ideogram/v3/remix' : 'fal-ai/ideogram/v3/edit'),
    extra({ style, quality }) {
      const speed = IDEOGRAM_SPEEDS[quality ?? '']
      return {
        ...(style === null ? {} : { style: style.toUpperCase() }),
        ...(speed === undefined ? {} : { rendering_speed: speed }),
      }
    },
  },
})

const IMAGES_PER_JOB_MAX = 4

/** Returns the maximum number of images in one job. */
export function falImagesMax(model: string): number {
  return IMAGE_MODELS[model]?.imagesMax ?? IMAGES_PER_JOB_MAX
}

export function toFalImageRequest(
  model: string,
  work: ImageWork<InputFile>,
  session: Pick<WireSession, 'signal'>,
): FalRequest<ImageModelOptions> {
  const particular = IMAGE_MODELS[model] ?? {}
  const { aspectRatios, lacksSeed } = particular
  const [first] = work.images
  const ratio = aspectRatios === undefined ? null : chooseAspectRatio(work, aspectRatios)
  const { outputFormat } = work
  const fal = {
    ...(ratio === null ? {} : { aspect_ratio: ratio }),
    ...(outputFormat === 'png' || outputFormat === 'jpeg' ? { outputFormat } : {}),
    // A model that accepts one image reads `imageUrl` instead of the list.
    ...(first === undefined || work.images.length < 2
      ? {}
      : { useMultipleImages: true, imageUrl: toDataUri(first) }),
    ...particular.extra?.(work),
  }
  const options = toImageOptions({ toProviderOptions: () => ({ fal }) }, { work }, session)
  return {
    endpoint:
      first === undefined ? (particular.newEndpoint ?? model) : (particular.editEndpoint?.(work) ?? model),
    options: {
      ...options,
      ...(aspectRatios === undefined ? {} : { size: undefined }),
      ...(lacksSeed ? { seed: undefined } : {}),
    },
  }
}

interface FalVideoModel {
  readonly imageEndpoint?: string
  readonly durations?: readonly number[]
  /** How the model writes seconds: `8s` or `8`. */
  readonly durationSuffix?: 's' | ''
  /** Empty if the model accepts none. */
  readonly aspectRatios?: readonly string[]
  readonly resolutions?: readonly string[]
  readonly hasAudioSwitch?: boolean
  readonly lacks?: ReadonlySet<'seed' | 'negative_prompt'>
}

const VEO: FalVideoModel = {
  durations: [4, 6, 8],
  durationSuffix: 's',
  aspectRatios: ['16:9', '9:16'],
  resolutions: ['720p', '1080p', '4k'],
  hasAudioSwitch: true,
}
const HAILUO = 'fal-ai/minimax/hailuo-02/standard'
const RAY = 'fal-ai/luma-dream-machine/ray-2'

const VIDEO_MODELS = lookupTable<FalVideoModel>({
  'fal-ai/veo3.1': { ...VEO, imageEndpoint: 'fal-ai/veo3.1/image-to-video' },
  'fal-ai/veo3.1/fast': { ...VEO, imageEndpoint: 'fal-ai/veo3.1/fast/image-to-video' },
  [`${HAILUO}/text-to-video`]: {
    imageEndpoint: `${HAILUO}/image-to-video`,
    durations: [6, 10],
    aspectRatios: [],
    resolutions: [],
    lacks: new Set(['seed', 'negative_prompt']),
  },
  [RAY]: {
    imageEndpoint: `${RAY}/image-to-video`,
    durations: [5, 9],
    durationSuffix: 's',
    aspectRatios: ['16:9', '9:16', '4:3', '3:4', '21:9', '9:21'],
    resolutions: ['540p', '720p', '1080p'],
    lacks: new Set(['seed', 'negative_prompt']),
  },
})

export function toFalVideoRequest(
  model: string,
  work: VideoWork<InputFile>,
  session: Pick<WireSession, 'signal'>,
): FalRequest<VideoModelOptions> {
  const particular = VIDEO_MODELS[model] ?? {}
  const { durations, durationSuffix = '', aspectRatios, resolutions, lacks } = particular
  const { seed, negativePrompt, withAudio } = work
  const duration =
    durations === undefined ? work.durationSeconds : chooseDuration(work.durationSeconds, durations)
  const shape = { aspectRatio: work.aspectRatio, size: work.resolution }
  const ratio = aspectRatios === undefined ? work.aspectRatio : chooseAspectRatio(shape, aspectRatios)
  const resolution =
    resolutions === undefined ? work.resolution : chooseResolution(work.resolution, resolutions)
  const fal = {
    // The package writes `8s`, and omits a seed of zero.
    ...(durationSuffix === 's' ? {} : { duration: String(duration) }),
    ...(seed === null || lacks?.has('seed') ? {} : { seed }),
    ...(resolution === null ? {} : { resolution }),
    ...(negativePrompt === null || lacks?.has('negative_prompt') ? {} : { negativePrompt }),
    ...(particular.hasAudioSwitch && withAudio !== null ? { generate_audio: withAudio } : {}),
  }
  return {
    endpoint: work.image === null ? model : (particular.imageEndpoint ?? model),
    options: {
      ...toVideoOptions(work, session),
      aspectRatio: toAspectRatio(ratio),
      duration,
      seed: undefined,
      providerOptions: { fal },
    },
  }
}
