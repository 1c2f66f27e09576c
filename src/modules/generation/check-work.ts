import { AppError, invalidValue } from '../../kernel/app-error.ts'
import type { MediaWork, VideoWork } from '../../providers/media/media-work.ts'
import { isDurationAllowed, type CatalogModel } from '../catalog/catalog.ts'
import type { GenerationType } from './generation-request.ts'

/** Throws if the model does not support the request, before anything is charged. Errors name the field and the allowed values. */
export function checkWork(type: GenerationType, model: CatalogModel, work: MediaWork<unknown>): void {
  const { bounds } = model
  if (work.kind === 'image') {
    if (type === 'edit' && !model.capabilities.has('image_edit')) {
      throw invalidValue('model', `'${model.id}' makes images and cannot edit them.`)
    }
    if (bounds.imagesMax !== null && work.count > bounds.imagesMax) {
      throw invalidValue('n', `'n' must be at most ${bounds.imagesMax} for '${model.id}'.`)
    }
    requireOneOf(model, 'size', work.size, bounds.sizes)
    requireOneOf(model, 'quality', work.quality, bounds.qualities)
    requireOneOf(model, 'aspect_ratio', work.aspectRatio, bounds.aspectRatios)
  }
  if (work.kind === 'video') checkVideo(model, work)
  if (work.kind === 'video' || work.kind === 'music') checkDuration(model, work.durationSeconds)
}

function checkVideo(model: CatalogModel, { image, aspectRatio, resolution }: VideoWork<unknown>): void {
  const { id, bounds, capabilities } = model
  const takesImage = capabilities.has('image_to_video')
  const takesText = capabilities.has('text_to_video')
  if (image === null && takesImage && !takesText) {
    const message = `'${id}' makes a video of an image: 'image_url' is required.`
    throw new AppError('missing_required_parameter', message, { param: 'image_url' })
  }
  if (image !== null && takesText && !takesImage) {
    const message = `'${id}' makes a video of a text and takes no 'image_url'.`
    throw new AppError('unsupported_parameter', message, { param: 'image_url' })
  }
  requireOneOf(model, 'aspect_ratio', aspectRatio, bounds.aspectRatios)
  // Sizes in pixels are left to the upstream.
  if (resolution !== null && !resolution.includes('x'))
    requireOneOf(model, 'resolution', resolution, bounds.resolutions)
}

function checkDuration({ id, bounds: { durations } }: CatalogModel, seconds: number): void {
  if (durations === null || isDurationAllowed(durations, seconds)) return
  const { minSeconds, maxSeconds, allowedSeconds } = durations
  const allowed = allowedSeconds
    ? `one of ${allowedSeconds.toSorted((one, other) => one - other).join(', ')}`
    : `between ${minSeconds} and ${maxSeconds}`
  throw invalidValue('duration', `'duration' must be ${allowed} seconds for '${id}'.`)
}

function requireOneOf(
  { id }: CatalogModel,
  param: string,
  value: string | null,
  allowed: readonly string[] | null,
): void {
  if (value === null || allowed === null || allowed.includes(value)) return
  throw invalidValue(param, `'${param}' must be one of ${allowed.join(', ')} for '${id}'.`)
}
