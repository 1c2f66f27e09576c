import { APICallError } from '@ai-sdk/provider'

import type { InputFile, MediaCall, OutputFile } from '../../media/media-operation.ts'
import type { ImageWork } from '../../media/media-work.ts'
import { isRecord, readString } from '../exchange/read-json.ts'
import { detectImageType } from './detect-image-type.ts'
import { chooseAspectRatio, chooseSize } from '../../streams/frame-shape.ts'
import { invalidAnswer, isContentRefusal, jobFailed } from './job-failure.ts'
import type { MediaWire, WireSession } from './media-wire.ts'
import { toAspectRatio, toModelFile, type ImageModelOptions, type VendorOptions } from './model-options.ts'
import { splitImages } from './split-images.ts'

/** The differences between the image models that are called through a package. */
export interface ImageModelVendor {
  /** Maximum number of images in one call. */
  readonly imagesMax: number
  /** Ratios that the vendor accepts instead of a size. */
  readonly aspectRatios?: readonly string[]
  readonly createModel: (session: WireSession, modelId: string) => Promise<ImageModel>
  /** Returns why an answer has no image, if the vendor reports it. */
  readonly readRefusal?: (metadata: unknown) => string | undefined
  readonly toProviderOptions?: (work: ImageWork<InputFile>) => VendorOptions
}

interface ImageModel {
  doGenerate(options: ImageModelOptions): PromiseLike<ImageResult>
}

interface ImageResult {
  readonly images: readonly (string | Uint8Array)[]
  readonly providerMetadata?: Readonly<Record<string, { readonly images?: unknown }>>
}

/** Creates the wire of a model whose call returns the complete images. */
export function createImageModelWire(vendor: ImageModelVendor): MediaWire<ImageWork<InputFile>> {
  return {
    split: (work) => splitImages(work, vendor.imagesMax),
    async submit(call, session) {
      const model = await vendor.createModel(session, call.upstreamModel)
      const options = toImageOptions(vendor, call, session)
      const result = await Promise.resolve(model.doGenerate(options)).catch((error: unknown) => {
        throw explainRefusal(session.provider, error)
      })
      const files = readFiles(session.provider, result)
      if (files.length === 0) {
        const message = vendor.readRefusal?.(result.providerMetadata)
        throw message === undefined
          ? invalidAnswer(session.provider, 'an image')
          : jobFailed(session.provider, { message, code: 'content_policy_violation' })
      }
      return { kind: 'done', output: { files } }
    },
  }
}

export function toImageOptions(
  { aspectRatios, toProviderOptions }: Pick<ImageModelVendor, 'aspectRatios' | 'toProviderOptions'>,
  { work }: Pick<MediaCall<ImageWork<InputFile>>, 'work'>,
  { signal }: Pick<WireSession, 'signal'>,
): ImageModelOptions {
  const ratio = aspectRatios === undefined ? null : chooseAspectRatio(work, aspectRatios)
  const size = aspectRatios === undefined ? chooseSize(work) : null
  return {
    prompt: work.prompt,
    n: work.count,
    size: size === null ? undefined : `${size.width}x${size.height}`,
    aspectRatio: toAspectRatio(ratio),
    seed: work.seed ?? undefined,
    files: work.images.length === 0 ? undefined : work.images.map(toModelFile),
    mask: work.mask === null ? undefined : toModelFile(work.mask),
    providerOptions: toProviderOptions?.(work) ?? {},
    abortSignal: signal,
  }
}

// Some packages throw a plain error for a refusal that has a successful status.
function explainRefusal(provider: string, error: unknown): unknown {
  const isUnexplained = error instanceof Error && !APICallError.isInstance(error)
  return isUnexplained && isContentRefusal(error.message)
    ? jobFailed(provider, { message: error.message })
    : error
}

function readFiles(provider: string, { images, providerMetadata }: ImageResult): OutputFile[] {
  const described = Object.values(providerMetadata ?? {}).find((metadata) =>
    Array.isArray(metadata.images),
  )?.images
  return images.map((image, index) => {
    const bytes = typeof image === 'string' ? Buffer.from(image, 'base64') : image
    if (bytes.length === 0) throw invalidAnswer(provider, 'the bytes of an image')
    const about: unknown = Array.isArray(described) ? described[index] : undefined
    const revisedPrompt = isRecord(about) ? readString(about, 'revisedPrompt') : undefined
    const contentType = detectImageType(bytes)
    return { kind: 'bytes', bytes, contentType, ...(revisedPrompt === undefined ? {} : { revisedPrompt }) }
  })
}
