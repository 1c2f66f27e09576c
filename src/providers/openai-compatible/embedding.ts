import { isRecord } from '../../kernel/is-record.ts'
import type { EmbeddingRequest } from '../../wires/openai-embeddings/embedding-request.ts'
import { decodeEmbedding, encodeEmbedding } from '../answers/encode-embedding.ts'
import type { InferenceOperation } from '../provider.ts'
import { prepareOther } from './prepare-request.ts'
import { parsePayload, readBody } from './read-answer.ts'
import type { OpenAiCompatibleUpstream } from './upstream.ts'
import type { WireClient } from './wire-client.ts'
import { invalidAnswer } from '../failures/upstream-error.ts'

/** Forwards the answer's bytes, unless the upstream ignored the requested encoding. */
export function createEmbedding(
  upstream: OpenAiCompatibleUpstream,
  client: WireClient,
): InferenceOperation<EmbeddingRequest> {
  return async (call) => {
    const response = await client.post('/embeddings', prepareOther(upstream, call), call)
    const payload = readBody(upstream.id, response)
    const wantsBase64 = call.body.encoding_format === 'base64'
    const isAsAsked = readFirstValue(payload) === (wantsBase64 ? QUOTE : OPENING_BRACKET)
    return {
      kind: 'complete',
      payload: isAsAsked ? payload : encodeAsAsked(upstream.id, payload, wantsBase64),
    }
  }
}

const MEMBER = Buffer.from('"embedding":')
const QUOTE = 0x22
const OPENING_BRACKET = 0x5b
const SPACE = 0x20

/** Returns the first byte of the first vector, found without parsing megabytes of numbers. */
function readFirstValue(payload: Buffer): number | undefined {
  const start = payload.indexOf(MEMBER)
  if (start === -1) return undefined
  const position = start + MEMBER.length
  return payload[position] === SPACE ? payload[position + 1] : payload[position]
}

// Clients that request base64 accept nothing else, and not every server of this wire supports it.
function encodeAsAsked(provider: string, payload: Buffer, wantsBase64: boolean): Buffer {
  const answer = parsePayload(provider, payload)
  const data = isRecord(answer) ? answer['data'] : undefined
  if (!isRecord(answer) || !Array.isArray(data) || data.length === 0)
    throw invalidAnswer(provider, 'its answer has no embeddings')
  const encoded = data.map((entry: unknown) => {
    const embedding = isRecord(entry) ? convert(entry['embedding'], wantsBase64) : null
    if (!isRecord(entry) || embedding === null)
      throw invalidAnswer(provider, 'an embedding of its answer is none')
    return { ...entry, embedding }
  })
  return Buffer.from(JSON.stringify({ ...answer, data: encoded }))
}

function convert(embedding: unknown, wantsBase64: boolean): string | number[] | null {
  if (typeof embedding === 'string') {
    const values = decodeEmbedding(embedding)
    return wantsBase64 && values !== null ? embedding : values
  }
  if (!isNumbers(embedding)) return null
  return wantsBase64 ? encodeEmbedding(embedding) : embedding
}

function isNumbers(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'number')
}
