import { parseBody } from './parse-body.ts'
import { textOf } from './read-members.ts'
import { countTokens } from './tokens.ts'
import { Refused, type VendorCall } from './vendor-server.ts'

const INPUT_TOKENS_MAX = 8_191
const VECTOR = [0.25, -0.5, 0.75]

/** `POST /v1/embeddings` of OpenAI: every input is billed by its tokens, whoever waits for the answer. */
export async function answerEmbedding(call: VendorCall): Promise<void> {
  const { plan } = call.planned
  const body = parseBody(call.text, plan.reader)
  if (body === null) throw new Refused('We could not parse the JSON body of your request.')
  if (plan.failure === 'refused') throw new Refused('the vendor takes no such request')
  const inputs = inputsOf(body['input']).map(countInput)
  if (inputs.some((count) => count > INPUT_TOKENS_MAX))
    throw new Refused('This model accepts at most 8191 tokens.')
  const promptTokens = inputs.reduce((sum, count) => sum + count, 0)
  if (plan.pauseAfter !== null) await call.planned.pause(call.closed)
  const counts = { promptTokens, cachedTokens: 0, completionTokens: 0 }
  call.vendor.lines.push({
    caseNumber: call.planned.number,
    vendor: call.vendor.name,
    model: textOf(body['model']),
    counts,
    seen: counts,
    pictures: null,
    extras: [],
    factor: 1,
    isWhole: !call.response.destroyed,
  })
  call.response.writeHead(200, { 'content-type': 'application/json' })
  call.response.end(
    JSON.stringify({
      object: 'list',
      model: body['model'],
      data: inputs.map((_, index) => ({
        object: 'embedding',
        index,
        embedding: vectorFor(body['encoding_format']),
      })),
      usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
    }),
  )
}

function vectorFor(format: unknown): unknown {
  return format === 'base64' ? Buffer.from(new Float32Array(VECTOR).buffer).toString('base64') : VECTOR
}

/** A text, token ids, or a list of either. */
function inputsOf(input: unknown): unknown[] {
  if (!Array.isArray(input)) return [input]
  return input.every((one) => typeof one === 'number') ? [input] : input
}

function countInput(input: unknown): number {
  return Array.isArray(input) ? input.length : countTokens(textOf(input))
}
