import { readAspectRatio, type PictureSize } from '../images/picture-size.ts'

export interface VideoShape extends PictureSize {
  readonly frameRate: number
}

const PIXELS = 640 * 360
const PIXELS_OF_LONG_ONES = 480 * 270
const LONG_SECONDS = 10
const DEFAULT_RATIO = 16 / 9
const SIDE_MIN = 48

/** Returns a small frame and a low frame rate, so that a minute is encoded in seconds. The ratio is the requested one. */
export function chooseVideoShape(
  { aspectRatio, resolution }: { aspectRatio: string | null; resolution: string | null },
  durationSeconds: number,
): VideoShape {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(resolution ?? '') ?? []
  const ratio = readAspectRatio(aspectRatio) ?? readAspectRatio(`${width}:${height}`) ?? DEFAULT_RATIO
  const pixels = durationSeconds > LONG_SECONDS ? PIXELS_OF_LONG_ONES : PIXELS
  return {
    ...fitSides(ratio, pixels),
    frameRate: durationSeconds <= LONG_SECONDS ? 12 : durationSeconds <= 30 ? 8 : 6,
  }
}

const CANDIDATES = 40

/** Returns even sides, which the encoder requires, that are nearest to the ratio at about this number of pixels. */
function fitSides(ratio: number, pixels: number): PictureSize {
  const ideal = Math.sqrt(pixels / ratio)
  let best: PictureSize = { width: toEven(ideal * ratio), height: toEven(ideal) }
  const errorOf = ({ width, height }: PictureSize) => Math.abs(width / height / ratio - 1)
  for (let step = 0; step < CANDIDATES; step += 1) {
    const height = toEven(ideal - step * 2)
    const size = { width: toEven(height * ratio), height }
    if (Math.min(size.width, size.height) >= SIDE_MIN && errorOf(size) < errorOf(best) - 1e-9) best = size
  }
  return best
}

function toEven(value: number): number {
  return Math.max(SIDE_MIN, Math.round(value / 2) * 2)
}
