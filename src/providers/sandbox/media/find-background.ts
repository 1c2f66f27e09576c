import { setImmediate as nextTurn } from 'node:timers/promises'

interface Pixels {
  /** Red, green, blue and alpha of each. */
  readonly pixels: Uint8Array
  readonly width: number
  readonly height: number
}

/** Distances of colour: up to the first all background, from the second on all foreground. */
const NEAR = 28
const FAR = 60
/** A step within the background may be this large: skies and studio walls change slowly. */
const STEP = 9
const PIXELS_PER_TURN = 40_000

/** How much of each pixel to keep, 0 to 255. The background is what is like the border and joined to it. */
export async function findBackground(picture: Pixels, signal: AbortSignal): Promise<Uint8Array> {
  const { width, height } = picture
  const border = listBorder(width, height)
  const borderColors = chooseBorderColors(picture, border)
  const kept = new Uint8Array(width * height).fill(255)
  const seen = new Uint8Array(width * height)
  const queue = new Int32Array(width * height)
  let queued = 0
  const visit = (place: number, from: number): void => {
    if (seen[place] === 1) return
    const distance = distanceToNearest(picture.pixels, place, borderColors)
    const isSlowStep = from !== -1 && distance < 3 * FAR && stepBetween(picture.pixels, place, from) < STEP
    if (distance >= FAR && !isSlowStep) return
    seen[place] = 1
    const isBackground = distance <= NEAR || isSlowStep
    kept[place] = isBackground ? 0 : Math.round(((distance - NEAR) / (FAR - NEAR)) * 255)
    // The flood ends in what is only half like the background, so that it cannot leak through an edge.
    if (isBackground) queue[queued++] = place
  }
  for (const place of border) visit(place, -1)
  for (let next = 0; next < queued; next += 1) {
    const place = queue[next] ?? 0
    const x = place % width
    if (x > 0) visit(place - 1, place)
    if (x < width - 1) visit(place + 1, place)
    if (place >= width) visit(place - width, place)
    if (place < width * (height - 1)) visit(place + width, place)
    if (next % PIXELS_PER_TURN !== PIXELS_PER_TURN - 1) continue
    await nextTurn()
    signal.throwIfAborted()
  }
  return kept
}

function listBorder(width: number, height: number): number[] {
  const places: number[] = []
  for (let x = 0; x < width; x += 1) places.push(x, (height - 1) * width + x)
  for (let y = 1; y < height - 1; y += 1) places.push(y * width, y * width + width - 1)
  return places
}

type Color = readonly [number, number, number]

const COLORS_MAX = 4
/** A colour counts as the background's when it holds at least this share of the border. */
const SHARE_MIN = 0.12

/** The commonest colours along the border: a subject that touches the edge is a small part of it. */
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

function distanceToNearest(pixels: Uint8Array, place: number, colors: readonly Color[]): number {
  const [red, green, blue] = colorAt(pixels, place)
  let nearest = Number.POSITIVE_INFINITY
  for (const [otherRed, otherGreen, otherBlue] of colors)
    nearest = Math.min(nearest, distance(red - otherRed, green - otherGreen, blue - otherBlue))
  return nearest
}

function stepBetween(pixels: Uint8Array, place: number, other: number): number {
  const [red, green, blue] = colorAt(pixels, place)
  const [otherRed, otherGreen, otherBlue] = colorAt(pixels, other)
  return distance(red - otherRed, green - otherGreen, blue - otherBlue)
}

// Green weighs most and blue least, about as the eye has it.
function distance(red: number, green: number, blue: number): number {
  return Math.sqrt((2 * red * red + 4 * green * green + 1.5 * blue * blue) / 2.5)
}

function colorAt(pixels: Uint8Array, place: number): Color {
  const offset = place * 4
  return [pixels[offset] ?? 0, pixels[offset + 1] ?? 0, pixels[offset + 2] ?? 0]
}
