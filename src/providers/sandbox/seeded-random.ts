/** Deterministic random numbers: the same seed text gives the same choices on every machine. */
export interface SeededRandom {
  /** Returns an integer from zero up to, but excluding, `end`. */
  integerBelow(end: number): number
  pick<T>(choices: readonly [T, ...T[]]): T
  hex(length: number): string
}

export function createSeededRandom(seedText: string): SeededRandom {
  let state = hashText(seedText)

  // Mulberry32 is cheap, and good enough for picking words.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }

  const integerBelow = (end: number): number => Math.floor((next() / 0x1_0000_0000) * end)
  return {
    integerBelow,
    pick: (choices) => choices[integerBelow(choices.length)] ?? choices[0],
    hex(length) {
      let text = ''
      while (text.length < length) text += next().toString(16).padStart(8, '0')
      return text.slice(0, length)
    },
  }
}

// FNV-1a over UTF-16 units.
function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}
