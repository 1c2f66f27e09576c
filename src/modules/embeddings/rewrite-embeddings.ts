import { garbage, parsePayload } from '../inference/inference.ts'

interface RewrittenEmbeddings {
  readonly members: Record<string, unknown>
  readonly data: readonly object[]
}

const BYTES_PER_FLOAT = 4

/** For an answer in another encoding than was asked for, or of another shape than usual: parsed and written anew. */
export function rewriteEmbeddings(provider: string, payload: Buffer, isBase64: boolean): RewrittenEmbeddings {
  const { members, list } = parsePayload(provider, payload, 'data')
  const items = list.every(({ index }) => typeof index === 'number')
    ? list.toSorted((a, b) => Number(a['index']) - Number(b['index']))
    : list
  const data = items.map((item, index) => {
    const { embedding } = item
    const vector = isVector(embedding) ? embedding : decode(embedding)
    if (vector === null) throw garbage(provider, 'it sent an embedding that is none')
    return { ...item, object: 'embedding', index, embedding: isBase64 ? encode(vector) : vector }
  })
  return { members, data }
}

function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((entry) => typeof entry === 'number')
}

/** Little-endian floats of 32 bits. */
function encode(vector: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(vector.length * BYTES_PER_FLOAT)
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * BYTES_PER_FLOAT)
  return bytes.toString('base64')
}

function decode(text: unknown): number[] | null {
  if (typeof text !== 'string') return null
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length === 0 || bytes.length % BYTES_PER_FLOAT !== 0) return null
  return Array.from({ length: bytes.length / BYTES_PER_FLOAT }, (_, index) =>
    bytes.readFloatLE(index * BYTES_PER_FLOAT),
  )
}
