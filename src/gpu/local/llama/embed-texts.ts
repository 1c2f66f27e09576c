import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { EngineError, invalidRequest } from './engine-error.ts'
import type { LoadedModel } from './load-model.ts'

const TEXTS_MAX = 2_048

const EmbeddingRequest = Type.Object({
  input: Type.Union([
    Type.String({ minLength: 1 }),
    Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: TEXTS_MAX }),
  ]),
  encoding_format: Type.Optional(Type.Enum(['float', 'base64'])),
})

export interface EmbeddedTexts {
  readonly vectors: readonly (readonly number[] | string)[]
  readonly tokens: number
}

/** Creates a function that embeds texts. The first request allocates the context, because most models get no such requests. */
export function createEmbedder({ model, contextSize, threads }: LoadedModel) {
  let context: ReturnType<typeof model.createEmbeddingContext> | null = null
  return async (body: unknown, signal: AbortSignal): Promise<EmbeddedTexts> => {
    if (!Value.Check(EmbeddingRequest, body))
      throw invalidRequest('input', 'input must be a text or a list of texts.')
    context ??= model.createEmbeddingContext({ contextSize, threads })
    const opened = await context
    const texts = typeof body.input === 'string' ? [body.input] : body.input
    const lengths = texts.map((text) => opened.calculateInputLength(text))
    if (lengths.some((length) => length > contextSize))
      throw new EngineError(400, `This model's maximum context length is ${contextSize} tokens.`, {
        param: 'input',
        code: 'context_length_exceeded',
      })
    const vectors = []
    for (const text of texts) {
      signal.throwIfAborted()
      const { vector } = await opened.getEmbeddingFor(text)
      vectors.push(body.encoding_format === 'base64' ? toBase64(vector) : vector)
    }
    return { vectors, tokens: lengths.reduce((sum, length) => sum + length, 0) }
  }
}

function toBase64(vector: readonly number[]): string {
  return Buffer.from(new Float32Array(vector).buffer).toString('base64')
}
