const WIDTH = 20

/** The parts of a model in the memory of GPUs. */
export interface MemoryParts {
  readonly weightsGb: number
  readonly cacheGb: number
  readonly overheadGb: number
  readonly availableGb: number
}

/** Draws the memory that a model fills: weights █, cache ▓, overhead ▒, free ░. More than there is ends with `!`. */
export function memoryBar({ weightsGb, cacheGb, overheadGb, availableGb }: MemoryParts): string {
  const needed = weightsGb + cacheGb + overheadGb
  const scale = WIDTH / Math.max(availableGb, 0.001)
  let drawn = ''
  for (const [gigabytes, mark] of [
    [weightsGb, '█'],
    [cacheGb, '▓'],
    [overheadGb, '▒'],
  ] as const)
    drawn += mark.repeat(
      Math.max(gigabytes > 0 ? 1 : 0, Math.round(Math.min(gigabytes, availableGb) * scale)),
    )
  if (needed > availableGb) return `${drawn.padEnd(WIDTH, '▒').slice(0, WIDTH - 1)}!`
  return drawn.slice(0, WIDTH).padEnd(WIDTH, '░')
}
