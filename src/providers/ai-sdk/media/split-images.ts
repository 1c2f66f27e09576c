import type { ImageWork } from '../../media/media-work.ts'

/** Splits work into parts that one submission can produce. Each part has its own seed, so that the images differ. */
export function splitImages<File>(work: ImageWork<File>, countMax: number): readonly ImageWork<File>[] {
  const pieces: ImageWork<File>[] = []
  for (let made = 0; made < work.count; made += countMax) {
    const count = Math.min(countMax, work.count - made)
    pieces.push({ ...work, count, seed: work.seed === null ? null : work.seed + made })
  }
  return pieces
}
