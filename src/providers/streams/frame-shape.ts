/** Reads `<width>x<height>` or `<width>:<height>`. Null for anything else. */
export function readShape(text: string | null): { width: number; height: number } | null {
  const match = /^(\d{1,5})[x:](\d{1,5})$/.exec(text ?? '')
  if (match === null) return null
  const [width, height] = [Number(match[1]), Number(match[2])]
  return width > 0 && height > 0 ? { width, height } : null
}

/**
 * Returns the requested ratio, or that of the requested size, if the vendor offers it, and otherwise the nearest offered ratio.
 */
export function chooseAspectRatio(
  { aspectRatio, size }: { aspectRatio: string | null; size: string | null },
  offered: readonly string[],
): string | null {
  const wanted = readShape(aspectRatio) ?? readShape(size)
  if (wanted === null) return null
  return nearest(offered, (ratio) => {
    const shape = readShape(ratio)
    return shape === null ? Infinity : distanceOfShapes(shape, wanted)
  })
}

/** Returns the offered size with the nearest shape. Among equal shapes it prefers the largest. */
export function chooseOfferedSize(aspectRatio: string, offered: readonly string[]): string | null {
  const wanted = readShape(aspectRatio)
  const shapes = offered.flatMap((size) => {
    const shape = readShape(size)
    return shape === null || wanted === null
      ? []
      : [{ size, pixels: shape.width * shape.height, distance: distanceOfShapes(shape, wanted) }]
  })
  const usual = shapes.filter(({ pixels }) => pixels <= PIXELS_OF_RATIO_MAX)
  const [best] = (usual.length > 0 ? usual : shapes).toSorted(
    (one, other) => one.distance - other.distance || other.pixels - one.pixels,
  )
  return best?.size ?? null
}

/** A larger size is not chosen for an aspect ratio unless the model offers only larger ones. Clients request it by its size. */
const PIXELS_OF_RATIO_MAX = 2 * 1024 * 1024

type Shape = Readonly<{ width: number; height: number }>

/** Returns the difference between two aspect ratios, regardless of the sizes. */
function distanceOfShapes(one: Shape, other: Shape): number {
  return Math.abs(Math.log((one.width * other.height) / (one.height * other.width)))
}

/**
 * Returns the requested size, or one of about a million pixels with the requested ratio, in multiples of `STEP`, which image
 * models prefer.
 */
export function chooseSize({ aspectRatio, size }: { aspectRatio: string | null; size: string | null }) {
  const exact = readShape(size)
  if (exact !== null) return exact
  const ratio = readShape(aspectRatio)
  if (ratio === null) return null
  const scale = Math.sqrt(PIXELS / (ratio.width * ratio.height))
  // Round down: slightly more than a million pixels would be billed as two million.
  return { width: floorToStep(ratio.width * scale), height: floorToStep(ratio.height * scale) }
}

/** Returns the shorter side of a video: `720p`, `4k`, or the smaller side of `<width>x<height>`. */
export function readLines(resolution: string | null): number | null {
  const named = /^(\d{3,4})p$/i.exec(resolution ?? '')?.[1]
  if (named !== undefined) return Number(named)
  if (/^4k$/i.test(resolution ?? '')) return 2160
  const shape = readShape(resolution)
  return shape === null ? null : Math.min(shape.width, shape.height)
}

/** Returns the offered resolution whose number of lines is nearest to the requested one. */
export function chooseResolution(resolution: string | null, offered: readonly string[]): string | null {
  const lines = readLines(resolution)
  if (lines === null) return null
  return nearest(offered, (name) => Math.abs((readLines(name) ?? Infinity) - lines))
}

/** Returns the shortest offered duration that is at least the requested one, or the longest if all are shorter. */
export function chooseDuration(seconds: number, offered: readonly number[]): number {
  const enough = offered.filter((candidate) => candidate >= seconds)
  return enough.length > 0 ? Math.min(...enough) : Math.max(...offered)
}

const PIXELS = 1024 * 1024
const STEP = 32

function floorToStep(length: number): number {
  return Math.max(STEP, Math.floor(length / STEP) * STEP)
}

function nearest(offered: readonly string[], distanceOf: (candidate: string) => number): string | null {
  let best: string | null = null
  for (const candidate of offered) {
    if (best === null || distanceOf(candidate) < distanceOf(best)) best = candidate
  }
  return best
}
