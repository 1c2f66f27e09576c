import { decodeEmbedding, encodeEmbedding } from '../../providers/encode-embedding.ts'
import { invalidAnswer, parsePayload } from '../inference/inference.ts'

interface RewrittenEmbeddings {
  readonly members: Record<string, unknown>
  readonly data: readonly object[]
}

/** For an answer in another encoding than was asked for, or of another shape than usual: parsed and written anew. */
export function rewriteEmbeddings(provider: string, payload: Buffer, isBase64: boolean): RewrittenEmbeddings {
  const { members, list } = parsePayload(provider, payload, 'data')
  const items = list.every(({ index }) => typeof index === 'number')
    ? list.toSorted((a, b) => Number(a['index']) - Number(b['index']))
    : list
  const data = items.map((item, index) => {
    const { embedding } = item
    const vector = isVector(embedding)
      ? embedding
      : typeof embedding === 'string'
        ? decodeEmbedding(embedding)
        : null
    if (vector === null) throw invalidAnswer(provider, 'it sent an embedding that is none')
    return { ...item, object: 'embedding', index, embedding: isBase64 ? encodeEmbedding(vector) : vector }
  })
  return { members, data }
}

function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((entry) => typeof entry === 'number')
}
