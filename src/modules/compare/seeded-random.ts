/** Numbers from 0 up to 1 that are the same for the same seeds, wherever and whenever they are drawn. */
export function createSeededRandom(...seeds: readonly number[]): () => number {
  let state = seeds.reduce((mixed, seed) => mix(mixed ^ mix(seed >>> 0) ^ mix(Math.floor(seed / 2 ** 32))), 0)
  return () => {
    state = (state + 0x9e3779b9) | 0
    return (mix(state) >>> 0) / 2 ** 32
  }
}

/** Every order is as likely as any other. */
export function shuffle<Item>(items: readonly Item[], random: () => number): Item[] {
  const shuffled = [...items]
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const chosen = Math.floor(random() * (last + 1))
    const moved = shuffled[chosen]
    const displaced = shuffled[last]
    if (moved === undefined || displaced === undefined) continue
    shuffled[last] = moved
    shuffled[chosen] = displaced
  }
  return shuffled
}

// The finaliser of MurmurHash3: every bit of the input changes about half of the output.
function mix(value: number): number {
  let mixed = value | 0
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
