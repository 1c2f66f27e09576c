export interface PictureSize {
  readonly width: number
  readonly height: number
}

const SIDE_MIN = 16
const SIDE_MAX = 4096
const DEFAULT_SIDE = 1024

/** Returns the requested size within the limits. The default is a square, or a similar number of pixels for a ratio. */
export function choosePictureSize(size: string | null, aspectRatio: string | null): PictureSize {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size ?? '') ?? []
  if (width !== undefined && height !== undefined)
    return { width: clampSide(Number(width)), height: clampSide(Number(height)) }
  const ratio = readAspectRatio(aspectRatio) ?? 1
  const exact = DEFAULT_SIDE * Math.sqrt(ratio)
  return { width: clampSide(roundTo8(exact)), height: clampSide(roundTo8(exact / ratio)) }
}

/** Returns width divided by height, or null if the text is not a ratio. */
export function readAspectRatio(aspectRatio: string | null): number | null {
  const [, width, height] = /^(\d{1,4}(?:\.\d{1,3})?):(\d{1,4}(?:\.\d{1,3})?)$/.exec(aspectRatio ?? '') ?? []
  const ratio = Number(width) / Number(height)
  return ratio >= 1 / 8 && ratio <= 8 ? ratio : null
}

function roundTo8(value: number): number {
  return Math.round(value / 8) * 8
}

function clampSide(value: number): number {
  return Math.min(SIDE_MAX, Math.max(SIDE_MIN, value))
}
