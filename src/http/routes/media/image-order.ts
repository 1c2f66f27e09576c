import { AppError, invalidValue } from '../../../kernel/app-error.ts'
import type { ClientFile, GenerationRequest } from '../../../modules/generation/generation.ts'
import type { ImageWork } from '../../../providers/media/media-work.ts'
import { fromUpload, readClientImage, type ImageInput } from '../../parameters/client-image.ts'
import type { UploadedFile } from '../../multipart/form.ts'
import {
  IMAGES_MAX,
  unnamedMembers,
  type ImageEditRequest,
  type ImageGenerationRequest,
} from './image-wire.ts'

/** What the body of a request for images asks for. */
export type ImageOrder = Pick<GenerationRequest, 'type' | 'model' | 'work' | 'responseFormat'>

export function readGeneration(body: ImageGenerationRequest): ImageOrder {
  return { type: 'image', work: toImageWork(body, [], null), ...readTarget(body) }
}

/** @param files of a form */
export function readEdit(body: ImageEditRequest, files: readonly UploadedFile[]): ImageOrder {
  const images = [...readImages(body.image, files), ...readImages(body.images, [], 'images')]
  if (images.length === 0)
    throw new AppError('missing_required_parameter', "Missing required parameter: 'image'.", {
      param: 'image',
    })
  if (images.length > IMAGES_MAX)
    throw invalidValue('images', `A request edits ${IMAGES_MAX} images at most.`)
  const [mask = null] = readImages(body.mask, files, 'mask')
  return { type: 'edit', work: toImageWork(body, images, mask), ...readTarget(body) }
}

type Target = Partial<Pick<ImageEditRequest, 'model' | 'response_format'>>

/** The model of the request and the format of its images. */
export function readTarget({ model, response_format: responseFormat }: Target) {
  return { model: model ?? null, responseFormat: responseFormat ?? null }
}

function toImageWork(
  body: Omit<ImageGenerationRequest, 'model'>,
  images: readonly ClientFile[],
  mask: ClientFile | null,
): ImageWork<ClientFile> {
  return {
    kind: 'image',
    prompt: body.prompt,
    count: body.n ?? 1,
    size: unlessAuto(body.size),
    aspectRatio: body.aspect_ratio ?? null,
    quality: unlessAuto(body.quality),
    style: body.style ?? null,
    background: body.background ?? null,
    outputFormat: body.output_format ?? null,
    seed: body.seed ?? null,
    images,
    mask,
    extra: unnamedMembers(body),
  }
}

/** Returns null for `auto`, so that the model chooses the value. */
function unlessAuto(value: string | null | undefined): string | null {
  return value === undefined || value === 'auto' ? null : value
}

/** Returns the images of the form and of the body. */
export function readImages(
  given: ImageInput | readonly ImageInput[] | null | undefined,
  files: readonly UploadedFile[],
  field = 'image',
): ClientFile[] {
  const uploaded = files.filter((file) => file.field === field).map(fromUpload)
  if (given === null || given === undefined) return uploaded
  const inputs = isList(given)
    ? given.map((one, index) => readClientImage(one, `${field}.${index}`))
    : [readClientImage(given, field)]
  return [...uploaded, ...inputs]
}

function isList(given: ImageInput | readonly ImageInput[]): given is readonly ImageInput[] {
  return Array.isArray(given)
}
