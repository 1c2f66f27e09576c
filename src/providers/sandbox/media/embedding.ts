import { setImmediate as nextTurn } from 'node:timers/promises'
import { countTokens } from '../../../kernel/count-tokens.ts'
import { decodeTokens } from '../../../kernel/decode-tokens.ts'
import type { EmbeddingRequest } from '../../embedding-wire.ts'
import type { InferenceOperation } from '../../provider.ts'
import { damagePayload } from '../inject-fault.ts'
import { beginCall, type SandboxParts } from './begin-call.ts'
import { embedText } from './embed-text.ts'
import { refuseRequest } from './refuse-request.ts'

const DEFAULT_DIMENSIONS = 1536
const DIMENSIONS: readonly (readonly [RegExp, number])[] = [
  [/3-large|gemini-embedding/, 3072],
  [/voyage|bge-|e5-|minilm/i, 1024],
]

/** Texts into vectors whose cosine tells how related the texts are. */
export function createEmbedding(parts: SandboxParts): InferenceOperation<EmbeddingRequest> {
  return async (call) => {
    const { body, upstreamModel, cancellation } = call
    const inputs = readInputs(body.input)
    const { text, directives, fault, faultContext } = await beginCall(parts, inputs.at(-1)?.text ?? '', call)
    const dimensions =
      body.dimensions ?? DIMENSIONS.find(([model]) => model.test(upstreamModel))?.[1] ?? DEFAULT_DIMENSIONS

    const rows: string[] = []
    let promptTokens = 0
    let charactersSinceTurn = 0
    for (const [index, input] of inputs.entries()) {
      const isLast = index === inputs.length - 1
      const vector = embedText(isLast ? text : input.text, dimensions)
      promptTokens += input.tokens ?? countTokens(input.text)
      rows.push(
        `{"object":"embedding","index":${index},"embedding":${writeVector(vector, body.encoding_format ?? 'float')}}`,
      )
      charactersSinceTurn += input.text.length + dimensions
      if (charactersSinceTurn < CHARACTERS_PER_TURN) continue
      charactersSinceTurn = 0
      await nextTurn()
      cancellation.throwIfCancelled()
    }
    const usage = directives.isUsageHidden
      ? ''
      : `,"usage":{"prompt_tokens":${promptTokens},"total_tokens":${promptTokens}}`
    const payload = Buffer.from(
      `{"object":"list","data":[${rows.join(',')}],"model":${JSON.stringify(upstreamModel)}${usage}}`,
    )
    return { kind: 'complete', payload: fault ? await damagePayload(fault, payload, faultContext) : payload }
  }
}

// Many inputs are worked on in turns, so that other requests are served in between.
const CHARACTERS_PER_TURN = 16_384

interface Input {
  readonly text: string
  /** Known already where tokens were sent. */
  readonly tokens: number | null
}

function readInputs(input: EmbeddingRequest['input']): Input[] {
  if (typeof input === 'string') return [{ text: input, tokens: null }]
  const tokens: number[] = []
  const inputs: Input[] = []
  for (const item of input) {
    if (typeof item === 'number') tokens.push(item)
    else inputs.push(typeof item === 'string' ? { text: item, tokens: null } : readTokens(item))
  }
  return tokens.length > 0 ? [readTokens(tokens)] : inputs
}

function readTokens(tokens: readonly number[]): Input {
  const text = decodeTokens(tokens)
  if (text === null) throw refuseRequest('The input holds a number that is no token.', 'input')
  return { text, tokens: tokens.length }
}

// A float32 has no more than seven digits to tell.
const DIGITS = 1e8

function writeVector(vector: Float32Array, format: 'float' | 'base64'): string {
  if (format === 'float')
    return `[${Array.from(vector, (value) => Math.round(value * DIGITS) / DIGITS).join(',')}]`
  const bytes = Buffer.alloc(vector.length * 4)
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4)
  return `"${bytes.toString('base64')}"`
}
