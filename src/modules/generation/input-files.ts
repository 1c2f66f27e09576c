import type { Readable } from 'node:stream'
import { AppError, invalidValue } from '../../kernel/app-error.ts'
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
  'keep' | 'keepFromAddress' | 'requireRoom' | 'read' | 'addressOf' | 'lastingAddressOf' | 'remove'
>

/** Finds a file that a client uploaded. Null also for files of other accounts and projects, and for those that were deleted or have expired. */
export type FindUploadedFile = (place: Place, fileId: string) => Promise<UploadedFile | null>

interface UploadedFile {
  readonly purpose: string
  /** The caller must read it to the end or destroy it. */
  open(): Promise<Readable>
}

export const IMAGE_BYTES_MAX = 20 * 1024 * 1024

interface KeepOptions {
  readonly media: Pick<Media, 'keep' | 'keepFromAddress' | 'remove'>
  readonly findFile: FindUploadedFile
  readonly place: Place
  readonly cancellation: Cancellation
}

/** Stores the client's files. If one fails, deletes those already stored. */
export async function keepInputs(
  work: MediaWork<ClientFile>,
  { media, findFile, place, cancellation }: KeepOptions,
): Promise<MediaWork<FileReference>> {
  const kept: string[] = []
  try {
    return await replaceFiles(work, async (file) => {
      const order = { place, purpose: 'input', kind: 'image', bytesMax: IMAGE_BYTES_MAX } as const
      const { id } =
        file.kind === 'address'
          ? await media.keepFromAddress({ ...order, url: file.url, param: file.param, cancellation })
          : await media.keep({ ...order, source: await openFile(file, place, findFile), param: file.param })
      kept.push(id)
      return { mediaId: id }
    })
  } catch (error) {
    await media.remove(kept)
    throw error
  }
}

type HeldFile = Exclude<ClientFile, { readonly kind: 'address' }>

async function openFile(
  file: HeldFile,
  place: Place,
  findFile: FindUploadedFile,
): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  if (file.kind === 'bytes') return file.bytes
  if (file.kind === 'stream') return file.open()
  const { param } = file
  const found = await findFile(place, file.fileId)
  if (found === null) {
    const message = `There is no file with the id in '${param}'. It may have been deleted, or have expired.`
    throw new AppError('not_found', message, { param })
  }
  if (!NAMEABLE.has(found.purpose)) {
    const message = `The file of '${param}' has the purpose ${found.purpose}. Requests may name files for user_data or vision.`
    throw invalidValue(param, message)
  }
  return found.open().catch((error: unknown) => {
    // It was deleted since it was found.
    throw error instanceof AppError ? new AppError(error.code, error.message, { param }) : error
  })
}

/** Purposes of files that requests may name. */
const NAMEABLE: ReadonlySet<string> = new Set(['user_data', 'vision'])

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
