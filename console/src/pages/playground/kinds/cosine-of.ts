/** The cosine of the angle between two vectors, or 0 if one of them is empty. */
export function cosineOf(one: readonly number[], other: readonly number[]): number {
  let [product, oneSquared, otherSquared] = [0, 0, 0]
  for (let index = 0; index < Math.min(one.length, other.length); index += 1) {
    const [a, b] = [one[index] ?? 0, other[index] ?? 0]
    product += a * b
    oneSquared += a * a
    otherSquared += b * b
  }
  const length = Math.sqrt(oneSquared) * Math.sqrt(otherSquared)
  return length === 0 ? 0 : product / length
}
