import { getHeapStatistics } from 'node:v8'

/** The part of the heap that bodies of running requests may take. */
const HEAP_PART = 0.5
/** One body of the largest size takes four times its size, and an account at most half of what is free. */
const LARGEST_BODIES_MIN = 8

/** Returns how much memory the bodies of running requests may take together. */
export function roomForBodies(
  bodyBytesMax: number,
  heapBytesMax = getHeapStatistics().heap_size_limit,
): number {
  return Math.max(bodyBytesMax * LARGEST_BODIES_MIN, Math.floor(heapBytesMax * HEAP_PART))
}
