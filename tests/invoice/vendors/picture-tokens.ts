interface Size {
  readonly width: number
  readonly height: number
}

/** OpenAI's rule for models that count tiles: fit into 2048, shorter side to 768, tiles of 512. */
export function countTiles({ width, height }: Size): number {
  const fit = Math.min(1, 2048 / Math.max(width, height))
  const shrink = Math.min(1, 768 / (Math.min(width, height) * fit))
  const scale = fit * shrink
  return Math.ceil((width * scale) / 512) * Math.ceil((height * scale) / 512)
}

/** Squares of this many pixels that cover a picture, up to a limit to which larger ones are shrunk. */
export function countPatches({ width, height }: Size, pixels: number, max: number): number {
  return Math.min(Math.ceil(width / pixels) * Math.ceil(height / pixels), max)
}
