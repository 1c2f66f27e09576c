import type { MediaWork } from '../../providers/media-work.ts'
import type { CatalogModel } from '../catalog/catalog.ts'

/** Says for the client what it left open, where the upstream's own choice may cost more than the price. */
export function completeWork<File>({ bounds }: CatalogModel, work: MediaWork<File>): MediaWork<File> {
  if (work.kind === 'image') return { ...work, quality: work.quality ?? bounds.qualityDefault }
  if (work.kind === 'video') return { ...work, resolution: work.resolution ?? bounds.resolutionDefault }
  return work
}
