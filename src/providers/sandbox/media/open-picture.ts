import type { Sharp } from 'sharp'
import type { InputFile } from '../../media-operation.ts'
import { readImageSize } from '../read-image-size.ts'
import { loadSharp } from './load-sharp.ts'
import type { PictureSize } from './picture-size.ts'
import { refuseRequest } from './refuse-request.ts'

export interface OpenPicture extends PictureSize {
  readonly format: 'png' | 'jpeg' | 'webp'
  /** A new pipeline over the decoded picture, upright and in sRGB with alpha. */
  read(): Sharp
}

const PIXELS_MAX = 64 * 1024 * 1024
const FORMATS = { PNG: 'png', JPEG: 'jpeg', WebP: 'webp', GIF: 'png' } as const

/** A client's picture, or a refusal that says which of its files is none. */
export async function openPicture(file: InputFile, parameter: string): Promise<OpenPicture> {
  const bytes = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.length)
  // Looked at first: the library would also open formats that can refer to other files.
  const found = readImageSize(bytes)
  if (found === null) throw refuseRequest(`${parameter} is no PNG, JPEG, WebP or GIF picture.`, parameter)
  if (found.width * found.height > PIXELS_MAX)
    throw refuseRequest(`${parameter} has too many pixels.`, parameter)
  const sharp = await loadSharp()
  const decoded = await sharp(bytes, { limitInputPixels: PIXELS_MAX })
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
