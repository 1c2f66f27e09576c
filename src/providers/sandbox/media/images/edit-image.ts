import type { OverlayOptions } from 'sharp'
import type { InputFile, MediaOutput } from '../../../media/media-operation.ts'
import type { ImageWork } from '../../../media/media-work.ts'
import { encodePicture } from './encode-picture.ts'
import { loadSharp } from './load-sharp.ts'
import { openPicture, usePictures, type OpenPicture } from './open-picture.ts'
import { paintCaption, paintScene } from './paint-scene.ts'
import { choosePictureSize, type PictureSize } from './picture-size.ts'

interface Edit {
  readonly work: ImageWork<InputFile>
  readonly prompt: string
  readonly upstreamModel: string
  readonly signal: AbortSignal
}

const COUNT_MAX = 16
const SIDE_MAX = 4096
const INSETS_MAX = 4

/**
 * Edits an image. With a mask, paints a new scene in the masked area and leaves all other pixels unchanged. Without one, writes
 * the prompt on a band at the bottom. Further images become insets.
 */
export function editImage(edit: Edit): Promise<MediaOutput> {
  const { work, signal } = edit
  const files = work.images.map((file, index) => ({ file, parameter: nameOf(index) }))
  if (work.mask !== null) files.push({ file: work.mask, parameter: 'mask' })
  const madePixels = ([first]: readonly PictureSize[]) => {
    if (first === undefined) return 0
    const { width, height } = chooseSize(work, first)
    return width * height
  }
  return usePictures(files, { madePixels, signal }, () => makeEdit(edit))
}

function nameOf(index: number): string {
  return index === 0 ? 'image' : `image[${index}]`
}

async function makeEdit({ work, prompt, upstreamModel }: Edit): Promise<MediaOutput> {
  const [first, ...others] = await Promise.all(
    work.images.slice(0, INSETS_MAX + 1).map((image, index) => openPicture(image, nameOf(index))),
  )
  if (first === undefined) return { files: [] }
  const mask = work.mask === null ? null : await openPicture(work.mask, 'mask')
  const size = chooseSize(work, first)
  const insets = await Promise.all(others.map((other, index) => layInset(other, size, index)))
  const files = []
  for (let index = 0; index < Math.min(COUNT_MAX, Math.max(1, work.count)); index += 1) {
    const scene = {
      ...size,
      prompt,
      seedText: JSON.stringify([upstreamModel, prompt, work.seed, index, 'edit']),
      footer: `Parkway sandbox • edited by ${upstreamModel}`,
      isTransparent: false,
    }
    const overlay =
      mask === null ? Buffer.from(paintCaption(scene)) : await cutScene(paintScene(scene), mask, size)
    const edited = first
      .read()
      .resize(size.width, size.height, { fit: 'fill' })
      .composite([...insets, { input: overlay }])
    files.push(await encodePicture(edited, work.outputFormat ?? 'png'))
  }
  return { files }
}

/** Returns the requested size, or that of the image up to the maximum. */
function chooseSize(work: ImageWork<InputFile>, first: PictureSize): PictureSize {
  if (/^\d+x\d+$/.test(work.size ?? '') || work.aspectRatio !== null)
    return choosePictureSize(work.size, work.aspectRatio)
  const scale = Math.min(1, SIDE_MAX / Math.max(first.width, first.height))
  return {
    width: Math.max(1, Math.round(first.width * scale)),
    height: Math.max(1, Math.round(first.height * scale)),
  }
}

/** Returns the scene in the masked area only: where the mask is transparent or, if it is fully opaque, where it is white. */
async function cutScene(scene: string, mask: OpenPicture, size: PictureSize): Promise<Buffer> {
  const sharp = await loadSharp()
  const { channels } = await mask.read().stats()
  const isOpaque = channels[3]?.min === 255
  const through = isOpaque ? mask.read().removeAlpha().greyscale() : mask.read().extractChannel(3).negate()
  const alpha = await through.toColourspace('b-w').raw().toBuffer({ resolveWithObject: true })
  const fitted = await sharp(alpha.data, {
    raw: { width: mask.width, height: mask.height, channels: alpha.info.channels },
  })
    .extractChannel(0)
    .resize(size.width, size.height, { fit: 'fill' })
    .toColourspace('b-w')
    .raw()
    .toBuffer()
  const painted = await sharp(Buffer.from(scene)).removeAlpha().raw().toBuffer()
  return sharp(painted, { raw: { ...size, channels: 3 } })
    .joinChannel(fitted, { raw: { ...size, channels: 1 } })
    .png({ compressionLevel: 1 })
    .toBuffer()
}

async function layInset(picture: OpenPicture, size: PictureSize, index: number): Promise<OverlayOptions> {
  const side = Math.max(1, Math.floor(Math.min(size.width, size.height) / 5))
  const gap = Math.floor(side / 8)
  const input = await picture.read().resize(side, side, { fit: 'cover' }).png().toBuffer()
  return { input, left: Math.min(gap + index * (side + gap), Math.max(0, size.width - side)), top: gap }
}
