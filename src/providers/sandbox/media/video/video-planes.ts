/**
 * An image in the form that video encoders need: luminance for each pixel, and two chroma planes for each square of four pixels.
 */
export interface VideoPlanes {
  readonly planes: readonly [Plane, Plane, Plane]
}

export interface Plane {
  readonly width: number
  readonly height: number
  readonly values: Uint8Array
}

interface Pixels {
  readonly width: number
  readonly height: number
  /** Red, green, blue and alpha of each pixel. */
  readonly pixels: Uint8Array
}

/** Converts with BT.601 in the limited range of video. Both sides must be even. */
export function toVideoPlanes({ width, height, pixels }: Pixels): VideoPlanes {
  const brightness = mapPixels({ width, height, step: 1 }, (place) => {
    const [red, green, blue] = colorAt(pixels, place)
    return 16 + 0.257 * red + 0.504 * green + 0.098 * blue
  })
  const blueness = mapPixels({ width, height, step: 2 }, (place) => {
    const [red, green, blue] = colorAt(pixels, place)
    return 128 - 0.148 * red - 0.291 * green + 0.439 * blue
  })
  const redness = mapPixels({ width, height, step: 2 }, (place) => {
    const [red, green, blue] = colorAt(pixels, place)
    return 128 + 0.439 * red - 0.368 * green - 0.071 * blue
  })
  return { planes: [brightness, blueness, redness] }
}

/** Returns the alpha of each pixel, in the sizes of the planes above. */
export function toAlphaPlanes({ width, height, pixels }: Pixels): VideoPlanes {
  const alphaAt = (place: number) => pixels[place * 4 + 3] ?? 0
  const half = mapPixels({ width, height, step: 2 }, alphaAt)
  return { planes: [mapPixels({ width, height, step: 1 }, alphaAt), half, half] }
}

function mapPixels(
  { width, height, step }: { width: number; height: number; step: number },
  valueAt: (place: number) => number,
): Plane {
  const columns = width / step
  const values = new Uint8Array(columns * (height / step))
  for (let index = 0; index < values.length; index += 1) {
    const row = Math.floor(index / columns)
    values[index] = Math.round(valueAt(row * step * width + (index % columns) * step))
  }
  return { width: columns, height: height / step, values }
}

function colorAt(pixels: Uint8Array, place: number): [number, number, number] {
  return [pixels[place * 4] ?? 0, pixels[place * 4 + 1] ?? 0, pixels[place * 4 + 2] ?? 0]
}

/** Enlarges the middle of a plane. Interpolates between four values, because whole steps would make slow movements jitter. */
export function zoomInto(target: Uint8Array, { width, height, values }: Plane, zoom: number): void {
  const columns = new Int32Array(width)
  const weights = new Int32Array(width)
  for (let x = 0; x < width; x += 1) {
    const source = Math.min(width - 1.001, (width - width / zoom) / 2 + x / zoom)
    columns[x] = Math.floor(source)
    weights[x] = Math.floor((source % 1) * 256)
  }
  for (let y = 0; y < height; y += 1) {
    const source = Math.min(height - 1.001, (height - height / zoom) / 2 + y / zoom)
    const row = Math.floor(source) * width
    const below = Math.floor((source % 1) * 256)
    for (let x = 0; x < width; x += 1) {
      const place = row + (columns[x] ?? 0)
      const beside = weights[x] ?? 0
      const upper = (values[place] ?? 0) * (256 - beside) + (values[place + 1] ?? 0) * beside
      const lower = (values[place + width] ?? 0) * (256 - beside) + (values[place + width + 1] ?? 0) * beside
      target[y * width + x] = (upper * (256 - below) + lower * below) >> 16
    }
  }
}

/** Blends a plane over another one, weighted by its alpha. */
export function layOver(target: Uint8Array, values: Uint8Array, alpha: Uint8Array, strength: number): void {
  const factor = Math.round(strength * 256)
  for (let index = 0; index < values.length; index += 1) {
    const weight = ((alpha[index] ?? 0) * factor) >> 8
    if (weight === 0) continue
    const below = target[index] ?? 0
    target[index] = below + ((((values[index] ?? 0) - below) * weight) >> 8)
  }
}
