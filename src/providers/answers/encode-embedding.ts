/** Returns OpenAI's base64 form of an embedding: consecutive float32 values in little-endian order. */
export function encodeEmbedding(values: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(values.length * FLOAT_BYTES)
  for (let index = 0; index < values.length; index += 1)
    bytes.writeFloatLE(values[index] ?? 0, index * FLOAT_BYTES)
  return bytes.toString('base64')
}

/** Returns null if the decoded text is empty or its length is not a multiple of 4 bytes. */
export function decodeEmbedding(text: string): number[] | null {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length === 0 || bytes.length % FLOAT_BYTES !== 0) return null
  return Array.from({ length: bytes.length / FLOAT_BYTES }, (_, index) =>
    bytes.readFloatLE(index * FLOAT_BYTES),
  )
}

const FLOAT_BYTES = 4
