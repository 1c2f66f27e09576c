import type { Sharp } from 'sharp'
import type { OutputFile } from '../../../media/media-operation.ts'

export type PictureFormat = 'png' | 'jpeg' | 'webp'

/** JPEG has no transparency, so transparent areas become white. */
export async function encodePicture(picture: Sharp, format: PictureFormat): Promise<OutputFile> {
  const encoded = {
    png: () => picture.png({ compressionLevel: 4 }),
    jpeg: () => picture.flatten({ background: '#fff' }).jpeg({ quality: 88 }),
    webp: () => picture.webp({ quality: 88 }),
  }[format]()
  const bytes = await encoded.toBuffer()
  return { kind: 'bytes', bytes, contentType: `image/${format}` }
}
