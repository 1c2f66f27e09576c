import { setImmediate as nextTurn } from 'node:timers/promises'
import { decodeTokens } from '../../../../kernel/tokens/decode-tokens.ts'
import type { EmbeddingRequest } from '../../../../wires/openai-embeddings/embedding-request.ts'
import type { InferenceOperation } from '../../../provider.ts'
import { createTokenCounter } from '../../request/count-prompt-tokens.ts'
import { damagePayload } from '../../faults/inject-fault.ts'
import { beginCall, type SandboxParts } from '../begin-call.ts'
import { embedText } from './embed-text.ts'
import { refuseRequest } from '../refuse-request.ts'

const DEFAULT_DIMENSIONS = 1536
const DIMENSIONS: readonly (readonly [RegExp, number])[] = [
  [/3-large|gemini-embedding/, 3072],
  [/voyage|bge-|e5-|minilm/i, 1024],
]

/** Converts texts into vectors whose cosine shows how related the texts are. */
export function createEmbedding(parts: SandboxParts): InferenceOperation<EmbeddingRequest> {
  return async (call) => {
    const { body, upstreamModel, cancellation } = call
    const inputs = readInputs(body.input)
    const { text, directives, fault, faultContext } = await beginCall(parts, inputs.at(-1)?.text ?? '', call)
    const dimensions =
      body.dimensions ?? DIMENSIONS.find(([model]) => model.test(upstreamModel))?.[1] ?? DEFAULT_DIMENSIONS

    const counter = createTokenCounter(cancellation.signal)
    const rows: Buffer[] = []
    let knownTokens = 0
    let charactersSinceTurn = 0
    for (const [index, input] of inputs.entries()) {
      const vector = embedText(index === inputs.length - 1 ? text : input.text, dimensions)
      if (input.tokens === null) await counter.add(input.text)
      else knownTokens += input.tokens
      rows.push(writeRow(index, writeVector(vector, body.encoding_format ?? 'float')))
      charactersSinceTurn += input.text.length + dimensions
      if (charactersSinceTurn < CHARACTERS_PER_TURN) continue
      charactersSinceTurn = 0
      await nextTurn()
      cancellation.throwIfCancelled()
    }
    const tokens = knownTokens + counter.total()
    const usage = { prompt_tokens: tokens, total_tokens: tokens }
    const rest = JSON.stringify({ model: upstreamModel, ...(directives.isUsageHidden ? {} : { usage }) })
    // Joined as bytes, because building one string of all vectors would block other requests.
    const payload = Buffer.concat([
      Buffer.from('{"object":"list","data":['),
      ...rows,
      Buffer.from(`],${rest.slice(1)}`),
    ])
    return { kind: 'complete', payload: fault ? await damagePayload(fault, payload, faultContext) : payload }
  }
}

// Yields to other requests after this many characters.
const CHARACTERS_PER_TURN = 16_384

interface Input {
  readonly text: string
  /** Known if the client sent tokens. */
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

// A float32 has about seven significant digits.
const DIGITS = 1e8

function writeVector(vector: Float32Array, format: 'float' | 'base64'): string {
  if (format === 'base64') return `"${Buffer.from(toLittleEndian(vector)).toString('base64')}"`
  return `[${Array.from(vector, (value) => Math.round(value * DIGITS) / DIGITS).join(',')}]`
}

function toLittleEndian(vector: Float32Array): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(vector.length * 4))
  for (let index = 0; index < vector.length; index += 1) view.setFloat32(index * 4, vector[index] ?? 0, true)
  return view.buffer
}

function writeRow(index: number, vector: string): Buffer {
  const comma = index === 0 ? '' : ','
  return Buffer.from(`${comma}{"object":"embedding","index":${index},"embedding":${vector}}`, 'latin1')
}
