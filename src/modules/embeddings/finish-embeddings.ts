import { isRecord } from '../../kernel/is-record.ts'
import { usdFromNanoUsd } from '../../kernel/money.ts'
import { parseJson } from '../../kernel/json/parse-json.ts'
import type { EmbeddingRequest } from '../../wires/openai-embeddings/embedding-request.ts'
import { parsePayload, type PricedCount, type WholeQuestion } from '../inference/inference.ts'
import { countInputs } from '../../wires/text-input.ts'
import { readCount } from '../../wires/token-usage.ts'
import { scanEmbeddings, type EmbeddingScan, type Span } from './scan-embeddings.ts'
import { decodeEmbedding, encodeEmbedding } from '../../providers/answers/encode-embedding.ts'
import { invalidAnswer } from '../../providers/failures/upstream-error.ts'

interface Metering {
  /** Used only if the upstream reports no usage. */
  readonly countTokens: () => number
  readonly priceOf: (promptTokens: number) => PricedCount
}

/** Validates an upstream's response, meters it, and writes the requested model id, usage and cost into its bytes. */
export function finishEmbeddings(
  payload: Buffer,
  question: WholeQuestion<EmbeddingRequest>,
  metering: Metering,
): readonly Buffer[] | string {
  const { provider, requestedModel, request } = question
  const { input, encoding_format: encoding } = request.body
  const isBase64 = encoding === 'base64'
  const inputs = countInputs(input)

  const writeUsage = (reported: unknown): object => {
    const promptTokens = readPromptTokens(reported) ?? metering.countTokens()
    request.record.usage = { promptTokens, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 }
    const cost = question.charge(metering.priceOf(promptTokens))
    return {
      ...(isRecord(reported) ? reported : {}),
      prompt_tokens: promptTokens,
      total_tokens: promptTokens,
      cost_usd: usdFromNanoUsd(cost),
    }
  }

  const scan = scanEmbeddings(payload)
  if (scan !== null && scan.isBase64 === isBase64 && scan.vectors === inputs) {
    const reported = scan.usage && parseMember(payload, scan.usage)
    return edit(payload, scan, requestedModel, writeUsage(reported))
  }
  const { members, data } = rewriteEmbeddings(provider, payload, isBase64)
  if (data.length !== inputs)
    throw invalidAnswer(provider, `it sent ${data.length} embeddings of ${inputs} inputs`)
  const usage = writeUsage(members['usage'])
  return JSON.stringify({ ...members, object: 'list', data, model: requestedModel, usage })
}

/** Some upstreams report only the total, which is the same because embeddings have no completion. */
function readPromptTokens(reported: unknown): number | null {
  if (!isRecord(reported)) return null
  return readCount(reported['prompt_tokens'] ?? reported['input_tokens'] ?? reported['total_tokens'])
}

function parseMember(payload: Buffer, { start, end }: { start: number; end: number }): unknown {
  try {
    return parseJson(payload.toString('utf8', start, end))
  } catch {
    return null
  }
}

/** Returns the original bytes with two values replaced. Large parts are not copied. */
function edit(payload: Buffer, scan: EmbeddingScan, requestedModel: string, usage: object): Buffer[] {
  const model = editOf('model', scan.model, scan.end, JSON.stringify(requestedModel))
  const metered = editOf('usage', scan.usage, scan.end, JSON.stringify(usage))
  const [first, second] = model.start <= metered.start ? [model, metered] : [metered, model]
  return joinSmall([
    payload.subarray(0, first.start),
    first.text,
    payload.subarray(first.end, second.start),
    second.text,
    payload.subarray(second.end),
  ])
}

function editOf(name: string, span: Span | null, end: number, value: string) {
  return span === null
    ? { start: end, end, text: Buffer.from(`,"${name}":${value}`) }
    : { ...span, text: Buffer.from(value) }
}

const SMALL_BYTES_MAX = 4096

/** Joins small pieces, because each piece is a separate write. */
function joinSmall(pieces: readonly Buffer[]): Buffer[] {
  const joined: Buffer[] = []
  let small: Buffer[] = []
  for (const piece of pieces) {
    if (piece.length <= SMALL_BYTES_MAX) {
      small.push(piece)
      continue
    }
    if (small.length > 0) joined.push(Buffer.concat(small))
    small = []
    joined.push(piece)
  }
  if (small.length > 0) joined.push(Buffer.concat(small))
  return joined
}

interface RewrittenEmbeddings {
  readonly members: Record<string, unknown>
  readonly data: readonly object[]
}

/** Parses and rewrites a response with another encoding than requested or an unusual structure. */
function rewriteEmbeddings(provider: string, payload: Buffer, isBase64: boolean): RewrittenEmbeddings {
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
