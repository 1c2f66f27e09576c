import type { InputFile, MediaOperation, MediaOutput } from '../../../media/media-operation.ts'
import type { UpscaleWork } from '../../../media/media-work.ts'
import { answerAtOnce } from '../answer-at-once.ts'
import type { SandboxParts } from '../begin-call.ts'
import { encodePicture } from './encode-picture.ts'
import { openPicture, usePictures } from './open-picture.ts'
import type { PictureSize } from './picture-size.ts'

/** Sharpening takes longer than everything else, and is hardly visible in images this large. */
const SHARPENED_PIXELS_MAX = 20_000_000
const SHARPENING = { sigma: 0.8, m1: 0.4, m2: 1 }

/** Doubles or quadruples both sides with Lanczos and a little sharpening, in the format of the input. */
export function createUpscale(parts: SandboxParts): MediaOperation<UpscaleWork<InputFile>> {
  return {
    start: answerAtOnce(parts, {
      readPrompt: ({ prompt }) => prompt ?? '',
      make: ({ image, scale }, _prompt, { cancellation }) => {
        const madePixels = (sizes: readonly PictureSize[]) =>
          sizes.reduce((sum, { width, height }) => sum + width * height * scale ** 2, 0)
        const { signal } = cancellation
        return usePictures([{ file: image, parameter: 'image' }], { madePixels, signal }, () =>
          enlarge(image, scale),
        )
      },
    }),
  }
}

async function enlarge(image: InputFile, scale: number): Promise<MediaOutput> {
  const picture = await openPicture(image, 'image')
  const width = picture.width * scale
  const height = picture.height * scale
  const larger = picture.read().resize(width, height, { kernel: 'lanczos3', fit: 'fill' })
  const sharpened = width * height > SHARPENED_PIXELS_MAX ? larger : larger.sharpen(SHARPENING)
  return { files: [await encodePicture(sharpened, picture.format)] }
}
