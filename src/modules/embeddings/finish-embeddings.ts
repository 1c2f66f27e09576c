import { isRecord } from '../../kernel/is-record.ts'
import { usdFromNanoUsd, type NanoUsd } from '../../kernel/money.ts'
import type { EmbeddingRequest } from '../../providers/embedding-wire.ts'
import { countInputs, garbage, readCount, type WholeQuestion } from '../inference/inference.ts'
import { rewriteEmbeddings } from './rewrite-embeddings.ts'
import { scanEmbeddings, type EmbeddingScan } from './scan-embeddings.ts'

interface Metering {
  /** Only where an upstream reports no usage. */
  readonly countTokens: () => number
  readonly priceOf: (promptTokens: number) => NanoUsd
}

/** Checks an upstream's answer, meters it and puts our model id, usage and cost into its bytes. */
export function finishEmbeddings(
  payload: Buffer,
  question: WholeQuestion<EmbeddingRequest>,
  metering: Metering,
): Buffer | string {
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
  if (data.length !== inputs) throw garbage(provider, `it sent ${data.length} embeddings of ${inputs} inputs`)
  const usage = writeUsage(members['usage'])
  return JSON.stringify({ ...members, object: 'list', data, model: requestedModel, usage })
}

/** Some upstreams name only the total, which is the same where nothing is written. */
function readPromptTokens(reported: unknown): number | null {
  if (!isRecord(reported)) return null
  return readCount(reported['prompt_tokens'] ?? reported['input_tokens'] ?? reported['total_tokens'])
}

function parseMember(payload: Buffer, { start, end }: { start: number; end: number }): unknown {
  try {
    return JSON.parse(payload.toString('utf8', start, end))
  } catch {
    return null
  }
}

function edit(payload: Buffer, scan: EmbeddingScan, requestedModel: string, usage: object): Buffer {
  const edits = [
    { name: 'model', span: scan.model, text: JSON.stringify(requestedModel) },
    { name: 'usage', span: scan.usage, text: JSON.stringify(usage) },
  ].toSorted((a, b) => (a.span?.start ?? scan.end) - (b.span?.start ?? scan.end))
  const pieces: Buffer[] = []
  let copied = 0
  for (const { name, span, text } of edits) {
    const { start, end } = span ?? { start: scan.end, end: scan.end }
    pieces.push(payload.subarray(copied, start), Buffer.from(span ? text : `,"${name}":${text}`))
    copied = end
  }
  pieces.push(payload.subarray(copied))
  return Buffer.concat(pieces)
}
