/** Six steps of red, green and blue each: 216 colours, which every sixel terminal has. */
const STEPS = 6
/** Six pixels below each other are one character. */
const BAND_HEIGHT = 6
const FIRST_CHARACTER = 63
const RUN_LENGTH_MIN = 4

interface Size {
  readonly width: number
  readonly height: number
  /** Bytes a pixel: red, green and blue first. */
  readonly channels: number
}

/** Encodes raw pixels for terminals that show sixel graphics. */
export function encodeSixel(pixels: Uint8Array, size: Size): string {
  const { width, height } = size
  const colours = toColours(pixels, size)
  const used = [...new Set(colours)]
  const palette = used.map((colour) => `#${colour};2;${percentOf(colour).join(';')}`).join('')
  let bands = ''
  for (let top = 0; top < height; top += BAND_HEIGHT)
    bands += `${encodeBand(colours, { width, top, bottom: Math.min(height, top + BAND_HEIGHT) })}-`
  return `\u001BPq"1;1;${width};${height}${palette}${bands}\u001B\\`
}

function toColours(pixels: Uint8Array, { width, height, channels }: Size): Uint8Array {
  const colours = new Uint8Array(width * height)
  for (let index = 0; index < colours.length; index += 1) {
    const at = index * channels
    const step = (offset: number): number =>
      Math.round(((pixels[at + (channels < 3 ? 0 : offset)] ?? 0) / 255) * (STEPS - 1))
    colours[index] = (step(0) * STEPS + step(1)) * STEPS + step(2)
  }
  return colours
}

function percentOf(colour: number): number[] {
  const steps = [Math.floor(colour / STEPS ** 2), Math.floor(colour / STEPS) % STEPS, colour % STEPS]
  return steps.map((step) => Math.round((step * 100) / (STEPS - 1)))
}

/** Draws a band once for each of its colours, from the left again each time. */
function encodeBand(
  colours: Uint8Array,
  { width, top, bottom }: { width: number; top: number; bottom: number },
): string {
  const rows = new Map<number, Uint8Array>()
  for (let y = top; y < bottom; y += 1)
    for (let x = 0; x < width; x += 1) {
      const colour = colours[y * width + x] ?? 0
      const row = rows.get(colour) ?? new Uint8Array(width)
      rows.set(colour, row)
      row[x] = (row[x] ?? 0) | (1 << (y - top))
    }
  return [...rows].map(([colour, row]) => `#${colour}${encodeRuns(row)}`).join('$')
}

function encodeRuns(row: Uint8Array): string {
  let text = ''
  for (let start = 0; start < row.length;) {
    let end = start + 1
    while (end < row.length && row[end] === row[start]) end += 1
    const character = String.fromCharCode(FIRST_CHARACTER + (row[start] ?? 0))
    const length = end - start
    text += length < RUN_LENGTH_MIN ? character.repeat(length) : `!${length}${character}`
    start = end
  }
  return text
}
