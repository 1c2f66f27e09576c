import type { InputFile, MediaOperation, MediaOutput } from '../../../media/media-operation.ts'
import type { BackgroundRemovalWork } from '../../../media/media-work.ts'
import { answerAtOnce } from '../answer-at-once.ts'
import type { SandboxParts } from '../begin-call.ts'
import { encodePicture } from './encode-picture.ts'
import { findBackground } from './find-background.ts'
import { loadSharp } from './load-sharp.ts'
import { openPicture, usePictures, type OpenPicture } from './open-picture.ts'

const LOOK_SIDE_MAX = 512

/** Makes everything transparent that resembles the image's border and is connected to it, with soft edges. */
export function createBackgroundRemoval(
  parts: SandboxParts,
): MediaOperation<BackgroundRemovalWork<InputFile>> {
  return {
    start: answerAtOnce(parts, {
      readPrompt: () => '',
      make: ({ image, outputFormat }, _prompt, { cancellation: { signal } }) =>
        usePictures(
          [{ file: image, parameter: 'image' }],
          {
            madePixels: (sizes) => sizes.reduce((sum, { width, height }) => sum + width * height, 0),
            signal,
          },
          () => cutOut(image, outputFormat, signal),
        ),
    }),
  }
}

async function cutOut(
  image: InputFile,
  outputFormat: BackgroundRemovalWork<InputFile>['outputFormat'],
  signal: AbortSignal,
): Promise<MediaOutput> {
  const picture = await openPicture(image, 'image')
  const kept = await findForeground(picture, signal)
  const sharp = await loadSharp()
  const { width, height } = picture
  const own = await picture.read().extractChannel(3).toColourspace('b-w').raw().toBuffer()
  // Pixels that were transparent stay transparent.
  const alpha = await sharp(kept, { raw: { width, height, channels: 1 } })
    .composite([{ input: own, raw: { width, height, channels: 1 }, blend: 'multiply' }])
    .extractChannel(0)
    .toColourspace('b-w')
    .raw()
    .toBuffer()
  const colors = await picture.read().removeAlpha().raw().toBuffer()
  const cut = sharp(colors, { raw: { width, height, channels: 3 } }).joinChannel(alpha, {
    raw: { width, height, channels: 1 },
  })
  return { files: [await encodePicture(cut, outputFormat)] }
}

/**
 * Returns how much of each pixel to keep, in the size of the image. Computed on a small copy, because the edges are soft anyway.
 */
async function findForeground(picture: OpenPicture, signal: AbortSignal): Promise<Buffer> {
  const scale = Math.min(1, LOOK_SIDE_MAX / Math.max(picture.width, picture.height))
  const width = Math.max(1, Math.round(picture.width * scale))
  const height = Math.max(1, Math.round(picture.height * scale))
  const pixels = await picture.read().resize(width, height, { fit: 'fill' }).raw().toBuffer()
  const kept = await findBackground({ pixels, width, height }, signal)
  const sharp = await loadSharp()
  const soft = sharp(kept, { raw: { width, height, channels: 1 } })
  return (width >= 3 && height >= 3 ? soft.blur(0.8) : soft)
    .resize(picture.width, picture.height, { fit: 'fill', kernel: 'cubic' })
    .toColourspace('b-w')
    .raw()
    .toBuffer()
}
