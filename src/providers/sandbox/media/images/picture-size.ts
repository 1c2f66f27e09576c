export interface PictureSize {
  readonly width: number
  readonly height: number
}

const SIDE_MIN = 16
const SIDE_MAX = 4096
const DEFAULT_SIDE = 1024

/** The size that is asked for, within bounds; a square where nothing is, and about as many pixels for a ratio. */
export function choosePictureSize(size: string | null, aspectRatio: string | null): PictureSize {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size ?? '') ?? []
  if (width !== undefined && height !== undefined)
    return { width: clampSide(Number(width)), height: clampSide(Number(height)) }
  const ratio = readAspectRatio(aspectRatio) ?? 1
  const exact = DEFAULT_SIDE * Math.sqrt(ratio)
  return { width: clampSide(roundTo8(exact)), height: clampSide(roundTo8(exact / ratio)) }
}

/** Width by height; null for what is no ratio. */
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
