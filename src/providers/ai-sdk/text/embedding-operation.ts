import type { EmbeddingRequest } from '../../../wires/openai-embeddings/embedding-request.ts'
import { encodeEmbedding } from '../../answers/encode-embedding.ts'
import type { InferenceCall, InferenceOperation } from '../../provider.ts'
import { UpstreamError } from '../../failures/upstream-error.ts'
import type { AiSdkProviderOptions } from '../lazy-provider.ts'
import { createVendorCalls, type VendorCalls } from '../exchange/vendor-calls.ts'
import { decodeTokens } from '../../../kernel/tokens/decode-tokens.ts'
import { toUpstreamError } from '../exchange/to-upstream-error.ts'
import { UntranslatableRequest } from '../request/untranslatable-request.ts'

/** The differences between the embedding vendors that are called through an AI SDK package. */
export interface EmbeddingVendor {
  readonly provider: string
  readonly defaultBaseUrl: string
  createModel(settings: EmbeddingModelSettings): Promise<EmbeddingModel>
  /** Returns the vendor's own options for the request. */
  toProviderOptions(body: EmbeddingRequest): VendorOptions
  /** Whether the vendor does not normalise vectors that have fewer dimensions than the model's default. */
  readonly leavesShortVectorsUnscaled?: boolean
}

/** By vendor, in a form that fits all versions of the packages' types. */
type VendorOptions = Record<string, Record<string, string | number>>

export interface EmbeddingModelSettings {
  readonly modelId: string
  readonly apiKey: string
  readonly baseUrl: string
  readonly fetch: typeof globalThis.fetch
}

/** The members that all versions of the packages' types have in common. */
interface EmbeddingModel {
  readonly maxEmbeddingsPerCall: PromiseLike<number | undefined> | number | undefined
  doEmbed(options: {
    values: string[]
    dimensions?: number
    abortSignal: AbortSignal
    providerOptions: VendorOptions
  }): PromiseLike<EmbeddedTexts>
}

interface EmbeddedTexts {
  readonly embeddings: readonly (readonly number[])[]
  /** Absent if the vendor reports no usage. */
  readonly usage?: { readonly tokens: number } | undefined
}

const BATCHES_AT_ONCE = 4
/** The maximum number of inputs of a request. */
const INPUTS_MAX = 2048

/** Serves embeddings with a vendor that does not speak OpenAI's wire, in batches of the vendor's maximum size. */
export function createEmbeddingOperation(
  vendor: EmbeddingVendor,
  options: AiSdkProviderOptions,
): InferenceOperation<EmbeddingRequest> {
  const calls = createVendorCalls(vendor.provider, options)
  const baseUrl = options.baseUrl ?? vendor.defaultBaseUrl
  return async (call) => {
    const texts = readTexts(vendor.provider, call.body.input)
    const batches = await embedAll({ vendor, calls, baseUrl, call }, texts)
    return {
      kind: 'complete',
      payload: Buffer.from(JSON.stringify(writeAnswer(vendor, call, batches))),
    }
  }
}

interface EmbeddingContext {
  readonly vendor: EmbeddingVendor
  readonly calls: VendorCalls
  readonly baseUrl: string
  readonly call: InferenceCall<EmbeddingRequest>
}

/** Embeds `BATCHES_AT_ONCE` batches at a time. The first failure aborts the others. */
async function embedAll(context: EmbeddingContext, texts: readonly string[]): Promise<EmbeddedTexts[]> {
  const group = new AbortController()
  const signal = AbortSignal.any([context.call.cancellation.signal, group.signal])
  const batchMax = await readBatchMax(context)
  const embedded: EmbeddedTexts[] = []
  let batchNext = 0
  const work = async () => {
    while (batchNext * batchMax < texts.length) {
      const batch = batchNext
      batchNext += 1
      const values = texts.slice(batch * batchMax, (batch + 1) * batchMax)
      embedded[batch] = await embedBatch(context, values, signal)
    }
  }
  try {
    await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, work))
  } catch (error) {
    group.abort(error)
    throw error
  }
  return embedded
}

/** Creates a model only to read its maximum, which needs no request. */
async function readBatchMax({ vendor, baseUrl, call }: EmbeddingContext): Promise<number> {
  const model = await vendor.createModel({
    modelId: call.upstreamModel,
    apiKey: 'none',
    baseUrl,
    fetch: globalThis.fetch,
  })
  return (await model.maxEmbeddingsPerCall) ?? INPUTS_MAX
}

async function embedBatch(
  { vendor, calls, baseUrl, call }: EmbeddingContext,
  values: string[],
  signal: AbortSignal,
): Promise<EmbeddedTexts> {
  const { timeouts, upstreamModel: modelId, body, onSent, onKey } = call
  return calls.attempt({ timeouts, signal, onSent, onKey }, async ({ apiKey, exchange }) => {
    const model = await vendor.createModel({ modelId, apiKey, baseUrl, fetch: exchange.fetch })
    const embedded = await model.doEmbed({
      values,
      ...(typeof body.dimensions === 'number' ? { dimensions: body.dimensions } : {}),
      abortSignal: signal,
      providerOptions: vendor.toProviderOptions(body),
    })
    if (embedded.embeddings.length !== values.length) {
      throw new UpstreamError(`${vendor.provider} answered another number of embeddings`, {
        failure: 'invalid_answer',
        provider: vendor.provider,
      })
    }
    return embedded
  })
}

function writeAnswer(
  vendor: EmbeddingVendor,
  { body }: InferenceCall<EmbeddingRequest>,
  batches: readonly EmbeddedTexts[],
) {
  const isScaled = vendor.leavesShortVectorsUnscaled !== true || typeof body.dimensions !== 'number'
  const vectors = batches.flatMap(({ embeddings }) => embeddings)
  const tokens = countUsedTokens(batches)
  return {
    object: 'list',
    data: vectors.map((vector, index) => {
      const values = isScaled ? vector : scaleToOne(vector)
      return {
        object: 'embedding',
        index,
        embedding: body.encoding_format === 'base64' ? encodeEmbedding(values) : values,
      }
    }),
    model: body.model,
    ...(tokens === null ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
  }
}

/** Returns null if the vendor reports no usage. The gateway then counts the tokens itself. */
function countUsedTokens(batches: readonly EmbeddedTexts[]): number | null {
  let tokens = 0
  for (const { usage } of batches) {
    if (usage === undefined) return null
    tokens += usage.tokens
  }
  return tokens
}

/** Clients compare embeddings by dot product, which requires vectors of length one. */
function scaleToOne(vector: readonly number[]): readonly number[] {
  const length = Math.hypot(...vector)
  return length === 0 ? vector : vector.map((value) => value / length)
}

/** Returns the texts of `input`, because these vendors do not accept tokens. */
function readTexts(provider: string, input: EmbeddingRequest['input']): string[] {
  if (typeof input === 'string') return [input]
  if (isTokens(input)) return [decode(provider, input)]
  return input.map((entry) => (typeof entry === 'string' ? entry : decode(provider, entry)))
}

function isTokens(input: string[] | number[] | number[][]): input is number[] {
  return typeof input[0] === 'number'
}

// Clients that send tokens encoded them for OpenAI's embedding models, which use cl100k.
function decode(provider: string, tokens: readonly number[]): string {
  const text = decodeTokens(tokens, 'cl100k')
  if (text !== null) return text
  const refusal = new UntranslatableRequest('input', 'It has a token that is not one of cl100k_base.')
  throw toUpstreamError(provider, refusal, { wasRequestSent: false, nowMs: 0 })
}
