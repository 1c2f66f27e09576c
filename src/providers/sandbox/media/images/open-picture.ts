import type { Sharp } from 'sharp'
import type { InputFile } from '../../../media/media-operation.ts'
import { readImageSize } from '../../../../kernel/media/read-image-size.ts'
import { loadSharp } from './load-sharp.ts'
import type { PictureSize } from './picture-size.ts'
import { REQUEST_PIXELS_MAX, sharedPixelRoom } from './pixel-room.ts'
import { refuseRequest } from '../refuse-request.ts'

export interface OpenPicture extends PictureSize {
  readonly format: 'png' | 'jpeg' | 'webp'
  /** Returns a new pipeline over the decoded image, upright and in sRGB with alpha. */
  read(): Sharp
}

const FORMATS = { PNG: 'png', JPEG: 'jpeg', WebP: 'webp', GIF: 'png' } as const

interface NamedFile {
  readonly file: InputFile
  readonly parameter: string
}

/**
 * Runs work on a client's images as soon as there is memory for their pixels and those of the output. Refuses a request with too
 * many pixels before anything is decoded.
 */
export async function usePictures<Result>(
  files: readonly NamedFile[],
  { madePixels, signal }: { madePixels: (sizes: readonly PictureSize[]) => number; signal: AbortSignal },
  work: () => Promise<Result>,
): Promise<Result> {
  const sizes = files.map(({ file, parameter }) => requireSize(file, parameter))
  const given = sizes.reduce((sum, { width, height }) => sum + width * height, 0)
  const first = files[0]?.parameter ?? 'image'
  if (given > REQUEST_PIXELS_MAX)
    throw refuseRequest(`The pictures have ${given} pixels; at most ${REQUEST_PIXELS_MAX} are taken.`, first)
  const made = madePixels(sizes)
  if (made > REQUEST_PIXELS_MAX)
    throw refuseRequest(`${made} pixels are asked for; at most ${REQUEST_PIXELS_MAX} are made.`, first)
  return sharedPixelRoom.use(given + made, signal, work)
}

function requireSize(file: InputFile, parameter: string) {
  const bytes = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.length)
  // Check the format first, because the library would also open formats that can refer to other files.
  const found = readImageSize((offset, count) => bytes.subarray(offset, offset + count))
  if (found === null) throw refuseRequest(`${parameter} is no PNG, JPEG, WebP or GIF picture.`, parameter)
  return { ...found, bytes }
}

/** Decodes a client's image, or throws a refusal that names the invalid file. Must be called within `usePictures`. */
export async function openPicture(file: InputFile, parameter: string): Promise<OpenPicture> {
  const found = requireSize(file, parameter)
  const sharp = await loadSharp()
  const decoded = await sharp(found.bytes, { limitInputPixels: REQUEST_PIXELS_MAX, sequentialRead: true })
    .autoOrient()
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
    .catch((cause: unknown) => {
      throw refuseRequest(`${parameter} could not be decoded: ${String(cause)}`, parameter)
    })
  const { width, height } = decoded.info
  return {
    width,
    height,
    format: FORMATS[found.format],
    read: () => sharp(decoded.data, { raw: { width, height, channels: 4 } }),
  }
}
