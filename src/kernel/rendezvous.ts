/**
 * Rendezvous hashing: of several candidates, choose the one with the highest score for a key. Every process chooses the same
 * one. When a candidate is removed, only its keys move; when it returns, they return to it.
 */

/** A 32-bit hash (FNV-1a) of a text. Not for secrets: collisions are easy to construct. */
export function hashText(text: string, start = FNV_OFFSET): number {
  let hash = start
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), FNV_PRIME)
  return hash >>> 0
}

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** Returns a pseudo-random number between 0 and 1 for a key and a candidate, evenly distributed over keys. */
export function drawFor(key: number, candidate: number): number {
  return (mix(mix(key) ^ candidate) + 0.5) / 2 ** 32
}

/** Returns the score of a candidate. The candidate with the highest score wins in proportion to its weight. */
export function scoreOf(draw: number, weight: number): number {
  return weight > 0 ? Math.log(draw) / weight : -Infinity
}

/** Mixes the bits: each input bit changes about half of the output bits. */
function mix(value: number): number {
  let mixed = value
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
