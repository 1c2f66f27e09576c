import { setImmediate as nextTurn } from 'node:timers/promises'

interface Pixels {
  /** Red, green, blue and alpha of each pixel. */
  readonly pixels: Uint8Array
  readonly width: number
  readonly height: number
}

/** Colour distances: up to `NEAR` a pixel is background, from `FAR` on it is foreground. */
const NEAR = 26
const FAR = 52
const PIXELS_PER_TURN = 8000

/**
 * Returns how much of each pixel to keep, 0 to 255. The background consists of the pixels that resemble the border and are
 * connected to it.
 */
export async function findBackground(picture: Pixels, signal: AbortSignal): Promise<Uint8Array> {
  const { width, height } = picture
  const border = listBorder(width, height)
  const likeness = createLikeness(picture, chooseBorderColors(picture, border))
  const kept = new Uint8Array(width * height).fill(255)
  const seen = new Uint8Array(width * height)
  const queue = new Int32Array(width * height)
  let queued = 0
  const visit = (place: number): void => {
    if (seen[place] === 1) return
    seen[place] = 1
    const distance = likeness(place)
    if (distance >= FAR) return
    kept[place] = distance <= NEAR ? 0 : Math.round(((distance - NEAR) / (FAR - NEAR)) * 255)
    // The flood fill stops at pixels that only partly resemble the background, so that it cannot leak through an edge.
    if (distance <= NEAR) queue[queued++] = place
  }
  for (const place of border) visit(place)
  for (let next = 0; next < queued; next += 1) {
    const place = queue[next] ?? 0
    const x = place % width
    if (x > 0) visit(place - 1)
    if (x < width - 1) visit(place + 1)
    if (place >= width) visit(place - width)
    if (place < width * (height - 1)) visit(place + width)
    if (next % PIXELS_PER_TURN !== PIXELS_PER_TURN - 1) continue
    await nextTurn()
    signal.throwIfAborted()
  }
  return kept
}

/**
 * Returns the distance of a pixel from the background's colours: the common colours of the border, and those at both ends of its
 * row and at the top of its column, since skies and studio walls change slowly. The bottom is excluded, because subjects stand
 * there.
 */
function createLikeness(
  { pixels, width, height }: Pixels,
  colors: readonly Color[],
): (place: number) => number {
  const left = averageAlong(pixels, { start: 0, step: width, count: height })
  const right = averageAlong(pixels, { start: width - 1, step: width, count: height })
  const top = averageAlong(pixels, { start: 0, step: 1, count: width })
  return (place) => {
    const color = colorAt(pixels, place)
    const row = Math.floor(place / width)
    let nearest = Number.POSITIVE_INFINITY
    for (const known of colors) nearest = Math.min(nearest, distanceBetween(color, known))
    for (const known of [left[row], right[row], top[place % width]])
      if (known !== undefined) nearest = Math.min(nearest, distanceBetween(color, known))
    return nearest
  }
}

const AVERAGE_REACH = 3

/** Averages neighbours, so that the noise of one pixel does not affect a whole row. */
function averageAlong(
  pixels: Uint8Array,
  { start, step, count }: { start: number; step: number; count: number },
): Color[] {
  return Array.from({ length: count }, (_, index) => {
    const from = Math.max(0, index - AVERAGE_REACH)
    const to = Math.min(count - 1, index + AVERAGE_REACH)
    const sum: [number, number, number] = [0, 0, 0]
    for (let near = from; near <= to; near += 1) {
      const [red, green, blue] = colorAt(pixels, start + near * step)
      sum[0] += red
      sum[1] += green
      sum[2] += blue
    }
    const size = to - from + 1
    return [sum[0] / size, sum[1] / size, sum[2] / size]
  })
}

function listBorder(width: number, height: number): number[] {
  const places: number[] = []
  for (let x = 0; x < width; x += 1) places.push(x, (height - 1) * width + x)
  for (let y = 1; y < height - 1; y += 1) places.push(y * width, y * width + width - 1)
  return places
}

type Color = readonly [number, number, number]

const COLORS_MAX = 4
/** Minimum share of the border that makes a colour a background colour. */
const SHARE_MIN = 0.12

/** Returns the most common colours of the border. A subject that touches the edge covers only a small part of it. */
function chooseBorderColors({ pixels }: Pixels, border: readonly number[]): Color[] {
  const groups = new Map<number, { count: number; sum: [number, number, number] }>()
  for (const place of border) {
    const [red, green, blue] = colorAt(pixels, place)
    const key = ((red >> 5) << 10) | ((green >> 5) << 5) | (blue >> 5)
    const group = groups.get(key) ?? { count: 0, sum: [0, 0, 0] }
    group.count += 1
    group.sum = [group.sum[0] + red, group.sum[1] + green, group.sum[2] + blue]
    groups.set(key, group)
  }
  const sorted = [...groups.values()].toSorted((left, right) => right.count - left.count)
  return sorted
    .filter(({ count }, index) => index === 0 || count >= border.length * SHARE_MIN)
    .slice(0, COLORS_MAX)
    .map(({ count, sum }) => [sum[0] / count, sum[1] / count, sum[2] / count])
}

// Weighted like human vision: green most, blue least.
function distanceBetween(left: Color, right: Color): number {
  const red = left[0] - right[0]
  const green = left[1] - right[1]
  const blue = left[2] - right[2]
  return Math.sqrt((2 * red * red + 4 * green * green + 1.5 * blue * blue) / 2.5)
}

function colorAt(pixels: Uint8Array, place: number): Color {
  const offset = place * 4
  return [pixels[offset] ?? 0, pixels[offset + 1] ?? 0, pixels[offset + 2] ?? 0]
}
