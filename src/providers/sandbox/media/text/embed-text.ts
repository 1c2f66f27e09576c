import { listFeatures } from './text-features.ts'

/**
 * Dimensions over which a feature is spread: a few separate texts cheaply. With one, two features could cancel each other out.
 */
const SPREAD = 8

/** Returns a unit vector. The cosine of two such vectors shows how much their texts have in common. */
export function embedText(text: string, dimensions: number): Float32Array {
  const weights = new Map<string, number>()
  for (const { name, weight } of listFeatures(text)) weights.set(name, (weights.get(name) ?? 0) + weight)
  if (weights.size === 0) weights.set(`t:${text.slice(0, 256)}`, 1)

  const vector = new Float32Array(dimensions)
  for (const [name, weight] of weights) {
    // A word that occurs twenty times does not count twenty times.
    spreadFeature(vector, hashName(name), weight / Math.sqrt(Math.max(1, weight)))
  }
  return normalize(fillGaps(normalize(vector), hashName(text.slice(0, GAP_TEXT_LENGTH_MAX))))
}

const GAP_TEXT_LENGTH_MAX = 1024
/** For a unit vector: enough to leave no dimension at zero, too little to make texts seem related. */
const GAP_LENGTH = 0.05

/** Adds a little noise to all dimensions: a real model leaves none at zero, and a short text would leave nearly all at zero. */
function fillGaps(vector: Float32Array, seed: number): Float32Array {
  const size = GAP_LENGTH / Math.sqrt(vector.length)
  let state = seed
  for (let index = 0; index < vector.length; index += 1) {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9 + index
    const mixed = (state ^ (state >>> 13)) >>> 0
    const filled = (vector[index] ?? 0) + ((mixed & 1) === 0 ? size : -size) * (0.5 + mixed / 0x2_0000_0000)
    vector[index] = filled === 0 ? size : filled
  }
  return vector
}

export function cosine(left: Float32Array, right: Float32Array): number {
  let sum = 0
  for (let index = 0; index < left.length; index += 1) sum += (left[index] ?? 0) * (right[index] ?? 0)
  return sum
}

function spreadFeature(vector: Float32Array, hash: number, weight: number): void {
  let state = hash
  for (let index = 0; index < SPREAD; index += 1) {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9
    state = Math.imul(state ^ (state >>> 13), 0x297a2d39)
    const mixed = (state ^ (state >>> 16)) >>> 0
    const place = Math.floor((mixed / 0x1_0000_0000) * vector.length)
    vector[place] = (vector[place] ?? 0) + ((mixed & 1) === 0 ? weight : -weight)
  }
}

function hashName(name: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < name.length; index += 1)
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193)
  return hash
}

function normalize(vector: Float32Array): Float32Array {
  let sum = 0
  for (const value of vector) sum += value * value
  const length = Math.sqrt(sum)
  // With very few dimensions everything can cancel out, but the vector must have length one.
  if (length === 0) vector[0] = 1
  else for (let index = 0; index < vector.length; index += 1) vector[index] = (vector[index] ?? 0) / length
  return vector
}
