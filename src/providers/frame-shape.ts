/** Width and height of `<width>x<height>` or `<width>:<height>`; null for anything else. */
export function readShape(text: string | null): { width: number; height: number } | null {
  const match = /^(\d{1,5})[x:](\d{1,5})$/.exec(text ?? '')
  if (match === null) return null
  const [width, height] = [Number(match[1]), Number(match[2])]
  return width > 0 && height > 0 ? { width, height } : null
}

/** The ratio asked for, or that of the size asked for, among those a vendor takes; the nearest where it takes only others. */
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

/** The nearest shape among the sizes a model has; of equal ones the largest. */
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

/** What is larger is asked for by its size only. */
const PIXELS_OF_RATIO_MAX = 2 * 1024 * 1024

type Shape = Readonly<{ width: number; height: number }>

/** How far two shapes are from being the same, however large they are. */
function distanceOfShapes(one: Shape, other: Shape): number {
  return Math.abs(Math.log((one.width * other.height) / (one.height * other.width)))
}

/** The size asked for, or one of about a million pixels in the ratio asked for, in steps that image models like. */
export function chooseSize({ aspectRatio, size }: { aspectRatio: string | null; size: string | null }) {
  const exact = readShape(size)
  if (exact !== null) return exact
  const ratio = readShape(aspectRatio)
  if (ratio === null) return null
  const scale = Math.sqrt(PIXELS / (ratio.width * ratio.height))
  // A little more than a million pixels would be billed as two.
  return { width: floorToStep(ratio.width * scale), height: floorToStep(ratio.height * scale) }
}

/** The shorter side of a video: `720p`, or the smaller of `<width>x<height>`. */
export function readLines(resolution: string | null): number | null {
  const named = /^(\d{3,4})p$/i.exec(resolution ?? '')?.[1]
  if (named !== undefined) return Number(named)
  if (/^4k$/i.test(resolution ?? '')) return 2160
  const shape = readShape(resolution)
  return shape === null ? null : Math.min(shape.width, shape.height)
}

/** A resolution by its lines, among those a vendor names; the nearest. */
export function chooseResolution(resolution: string | null, offered: readonly string[]): string | null {
  const lines = readLines(resolution)
  if (lines === null) return null
  return nearest(offered, (name) => Math.abs((readLines(name) ?? Infinity) - lines))
}

/** The shortest duration a vendor offers that is not shorter than what was asked for; its longest otherwise. */
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
