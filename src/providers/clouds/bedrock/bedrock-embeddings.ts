import { isRecord } from '../../../kernel/is-record.ts'
import { invalidAnswer } from '../../failures/upstream-error.ts'
import { readString } from '../../ai-sdk/exchange/read-json.ts'
import type { EmbeddingVendor } from '../../ai-sdk/text/embedding-operation.ts'
import type { CloudOptions } from '../cloud-options.ts'
import { readJsonAnswer } from '../read-json-answer.ts'
import { fetchSigned } from '../signed-fetch.ts'
import { pathOfModel } from './bedrock-models.ts'

/** How a family of embedding models is asked. */
interface Family {
  readonly textsMax: number
  write(texts: readonly string[], options: EmbeddingOptions): object
  readVectors(answer: Readonly<Record<string, unknown>>): unknown
  readTokens(answer: Readonly<Record<string, unknown>>): unknown
}

interface EmbeddingOptions {
  readonly dimensions: number | undefined
  readonly inputType: string | undefined
}

/** https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html */
const TITAN: Family = {
  textsMax: 1,
  write: ([inputText], { dimensions }) => ({
    inputText,
    ...(dimensions === undefined ? {} : { dimensions }),
  }),
  readVectors: ({ embedding }) => [embedding],
  readTokens: ({ inputTextTokenCount }) => inputTextTokenCount,
}

/** https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-embed.html */
const COHERE: Family = {
  textsMax: 96,
  write: (texts, { dimensions, inputType = 'search_document' }) => ({
    texts,
    input_type: inputType,
    embedding_types: ['float'],
    ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
  }),
  readVectors: ({ embeddings }) => (isRecord(embeddings) ? embeddings['float'] : embeddings),
  readTokens: () => undefined,
}

/** The header in which Bedrock tells what it counted, for models that do not say it in their answer. */
const TOKENS_HEADER = 'x-amzn-bedrock-input-token-count'

export function createBedrockEmbeddings({ id, baseUrl, signIn }: CloudOptions): EmbeddingVendor {
  return {
    provider: id,
    defaultBaseUrl: baseUrl,
    async createModel({ modelId, apiKey, fetch }) {
      const family = /(?:^|[./])cohere\./.test(modelId) ? COHERE : TITAN
      return {
        maxEmbeddingsPerCall: family.textsMax,
        async doEmbed({ values, dimensions, abortSignal, providerOptions }) {
          const response = await fetchSigned(fetch, signIn, apiKey, {
            url: baseUrl + pathOfModel(modelId, 'invoke'),
            body: JSON.stringify(
              family.write(values, {
                dimensions,
                inputType: readString(providerOptions, 'bedrock', 'inputType'),
              }),
            ),
            headers: { 'content-type': 'application/json' },
            signal: abortSignal,
          })
          const answer = await readJsonAnswer(id, response)
          const told = family.readTokens(answer) ?? response.headers.get(TOKENS_HEADER) ?? undefined
          const tokens = told === undefined ? undefined : Number(told)
          return {
            embeddings: readVectors(id, family.readVectors(answer)),
            usage: tokens === undefined || !Number.isSafeInteger(tokens) ? undefined : { tokens },
          }
        },
      }
    },
    toProviderOptions(body) {
      const inputType = readString(body, 'input_type')
      return { bedrock: inputType === undefined ? {} : { inputType } }
    },
  }
}

function readVectors(provider: string, vectors: unknown): number[][] {
  if (Array.isArray(vectors) && vectors.every(isVector)) return vectors
  throw invalidAnswer(provider, 'its answer has no embeddings')
}

function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'number')
}
