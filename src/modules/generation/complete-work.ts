import {
  chooseAspectRatio,
  chooseOfferedSize,
  chooseResolution,
  readShape,
} from '../../providers/streams/frame-shape.ts'
import type { ImageWork, MediaWork, VideoWork } from '../../providers/media/media-work.ts'
import { keepReadInstructions } from '../../providers/requests/keep-read-instructions.ts'
import type { CatalogModel } from '../catalog/catalog.ts'

type Bounds = CatalogModel['bounds']

/** Sets parameters that the client left out, because the upstream's own default may cost more than the charged price. */
export function completeWork<File>({ bounds, routes }: CatalogModel, work: MediaWork<File>): MediaWork<File> {
  if (work.kind === 'image')
    return { ...work, size: sizeOf(bounds, work), quality: work.quality ?? bounds.qualityDefault }
  if (work.kind === 'video') return completeVideo(bounds, work)
  if (work.kind === 'speech') return keepReadInstructions(work, routes)
  return work
}

function sizeOf<File>(bounds: Bounds, { size, aspectRatio, images }: ImageWork<File>): string | null {
  if (size !== null) return size
  const { sizes, aspectRatios, sizeDefault } = bounds
  if (aspectRatio !== null)
    return sizes === null || aspectRatios !== null ? null : chooseOfferedSize(aspectRatio, sizes)
  // An edit keeps the aspect ratio of its image.
  return images.length === 0 ? sizeDefault : null
}

/**
 * Converts a size in pixels to the resolution it is priced as, with its aspect ratio, because an upstream may support sizes that
 * have no price.
 */
function completeVideo<File>(bounds: Bounds, work: VideoWork<File>): VideoWork<File> {
  const { resolutions, aspectRatios, resolutionDefault } = bounds
  const resolution = work.resolution ?? resolutionDefault
  const shape = readShape(resolution)
  if (resolution === null || shape === null || resolutions === null) return { ...work, resolution }
  const ratio =
    aspectRatios === null
      ? `${shape.width}:${shape.height}`
      : chooseAspectRatio({ aspectRatio: null, size: resolution }, aspectRatios)
  return {
    ...work,
    resolution: chooseResolution(resolution, resolutions) ?? resolution,
    aspectRatio: work.aspectRatio ?? ratio,
  }
}
