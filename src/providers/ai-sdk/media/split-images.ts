import type { ImageWork } from '../../media-work.ts'

/** Pieces of as many images as one submission makes. Each gets a seed of its own, lest all show the same. */
export function splitImages<File>(work: ImageWork<File>, countMax: number): readonly ImageWork<File>[] {
  const pieces: ImageWork<File>[] = []
  for (let made = 0; made < work.count; made += countMax) {
    const count = Math.min(countMax, work.count - made)
    pieces.push({ ...work, count, seed: work.seed === null ? null : work.seed + made })
  }
  return pieces
}
