import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Place } from '../../storage/place.ts'
import type { InputFile } from '../../providers/media/media-operation.ts'
import type { MediaWork } from '../../providers/media/media-work.ts'
import type { Media } from '../media/media.ts'
import type { ClientFile } from './generation-request.ts'
import type { FileReference } from './stored-work.ts'

/** The part of the media store that generation uses. */
export type GenerationMedia = Pick<
  Media,
  'keep' | 'keepFromAddress' | 'requireRoom' | 'read' | 'addressOf' | 'remove'
>

export const IMAGE_BYTES_MAX = 20 * 1024 * 1024

interface KeepOptions {
  readonly media: Pick<Media, 'keep' | 'keepFromAddress' | 'remove'>
  readonly place: Place
  readonly cancellation: Cancellation
}

/** Stores the client's files. If one fails, deletes those already stored. */
export async function keepInputs(
  work: MediaWork<ClientFile>,
  { media, place, cancellation }: KeepOptions,
): Promise<MediaWork<FileReference>> {
  const kept: string[] = []
  try {
    return await replaceFiles(work, async (file) => {
      const order = { place, purpose: 'input', kind: 'image', bytesMax: IMAGE_BYTES_MAX } as const
      const { id } =
        file.kind === 'address'
          ? await media.keepFromAddress({ ...order, url: file.url, param: file.param, cancellation })
          : await media.keep({
              ...order,
              source: file.kind === 'bytes' ? file.bytes : file.open(),
              param: file.param,
            })
      kept.push(id)
      return { mediaId: id }
    })
  } catch (error) {
    await media.remove(kept)
    throw error
  }
}

/** Loads the files into memory, for a provider. */
export function loadInputs(
  work: MediaWork<FileReference>,
  { media, place }: { media: Pick<Media, 'read'>; place: Place },
): Promise<MediaWork<InputFile>> {
  return replaceFiles(work, ({ mediaId }) => media.read(place, mediaId))
}

export function listFiles<File>(work: MediaWork<File>): File[] {
  switch (work.kind) {
    case 'image':
      return [...work.images, ...(work.mask === null ? [] : [work.mask])]
    case 'upscale':
    case 'bg_remove':
      return [work.image]
    case 'video':
      return work.image === null ? [] : [work.image]
    case 'music':
    case 'speech':
      return []
  }
}

/** Replaces every file of the work. */
export async function replaceFiles<From, To>(
  work: MediaWork<From>,
  replace: (file: From) => Promise<To>,
): Promise<MediaWork<To>> {
  switch (work.kind) {
    case 'image': {
      const images: To[] = []
      // Sequential, so that only one file is loaded at a time.
      for (const image of work.images) images.push(await replace(image))
      return { ...work, images, mask: work.mask === null ? null : await replace(work.mask) }
    }
    case 'upscale':
    case 'bg_remove':
      return { ...work, image: await replace(work.image) }
    case 'video':
      return { ...work, image: work.image === null ? null : await replace(work.image) }
    case 'music':
    case 'speech':
      return work
  }
}
