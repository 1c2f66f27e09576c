/** Random numbers that are the same for the same seed, in all processes and versions. */
export interface SeededRandom {
  /** Returns a number from 0 up to, but not including, 1. */
  next(): number
  /** Returns an integer from 0 up to, but not including, `count`. */
  below(count: number): number
  pick<Item>(choices: readonly [Item, ...Item[]]): Item
  hex(length: number): string
}

/** Splits a 53-bit seed into two words. */
const HIGH_BITS = 0x1_0000_0000

/**
 * Creates an sfc32 generator: small, fast, and good enough for resampling, but not for secrets. One seed has many independent
 * series.
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
  // Skip the first numbers, which are similar for neighbouring seeds.
  for (let index = 0; index < 15; index += 1) draw()
  const below = (count: number): number => Math.floor((draw() / HIGH_BITS) * count)
  return {
    next: () => draw() / HIGH_BITS,
    below,
    pick: (choices) => choices[below(choices.length)] ?? choices[0],
    hex(length) {
      let text = ''
      while (text.length < length) text += draw().toString(16).padStart(8, '0')
      return text.slice(0, length)
    },
  }
}

/** Creates a generator whose seed is a text. */
export function createRandomFromText(text: string): SeededRandom {
  // FNV-1a over UTF-16 units.
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return createRandom(hash >>> 0)
}

/** Returns a shuffled copy. All orders are equally likely. */
export function shuffle<Item>(items: readonly Item[], random: SeededRandom): Item[] {
  const left = [...items]
  const shuffled: Item[] = []
  while (left.length > 0) shuffled.push(...left.splice(random.below(left.length), 1))
  return shuffled
}
