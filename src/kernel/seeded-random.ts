/** Draws that are the same for the same seed, in every process and version. */
export interface SeededRandom {
  /** From 0 up to 1, without it. */
  next(): number
  /** From 0 up to the count, without it. */
  below(count: number): number
}

/** Enough of a 53-bit seed to tell any two apart. */
const HIGH_BITS = 0x1_0000_0000

/**
 * The generator known as sfc32: small, fast, and good enough for resampling. It keeps no secret. One seed has many series,
 * which have nothing to do with each other.
 */
export function createRandom(seed: number, series = 0): SeededRandom {
  let a = Math.trunc(seed) >>> 0
  let b = Math.trunc(seed / HIGH_BITS) >>> 0
  let c = (0x9e37_79b9 + series) | 0
  let counter = 1
  const draw = (): number => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + sum) | 0
    return sum >>> 0
  }
  // The first draws of neighbouring seeds are alike.
  for (let index = 0; index < 15; index += 1) draw()
  return {
    next: () => draw() / HIGH_BITS,
    below: (count) => Math.floor((draw() / HIGH_BITS) * count),
  }
}

/** A new list in an order that the draws decide; every order is as likely as any other. */
export function shuffle<Item>(items: readonly Item[], random: SeededRandom): Item[] {
  const left = [...items]
  const shuffled: Item[] = []
  while (left.length > 0) shuffled.push(...left.splice(random.below(left.length), 1))
  return shuffled
}
