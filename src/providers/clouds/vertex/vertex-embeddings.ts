import { readNumber, readPath, readString } from '../../ai-sdk/exchange/read-json.ts'
import type { EmbeddingVendor } from '../../ai-sdk/text/embedding-operation.ts'
import { invalidAnswer } from '../../failures/upstream-error.ts'
import type { CloudOptions } from '../cloud-options.ts'
import { readJsonAnswer } from '../read-json-answer.ts'
import { fetchSigned } from '../signed-fetch.ts'
import { pathOfEmbedding } from './vertex-models.ts'

/** One for `gemini-embedding-001`; the older models take 250, and 20,000 tokens in all. */
const TEXTS_MAX = 1
const TEXTS_OF_OLDER_MAX = 9

/** https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api */
export function createVertexEmbeddings({ id, baseUrl, signIn }: CloudOptions): EmbeddingVendor {
  return {
    provider: id,
    defaultBaseUrl: baseUrl,
    leavesShortVectorsUnscaled: true,
    async createModel({ modelId, apiKey, fetch }) {
      return {
        // A text has at most 2,048 tokens, so nine never have more than 20,000.
        maxEmbeddingsPerCall: modelId.startsWith('text-') ? TEXTS_OF_OLDER_MAX : TEXTS_MAX,
        async doEmbed({ values, dimensions, abortSignal, providerOptions }) {
          const taskType = readString(providerOptions, 'vertex', 'taskType')
          const task = taskType === undefined ? {} : { task_type: taskType }
          const size = dimensions === undefined ? {} : { outputDimensionality: dimensions }
          const response = await fetchSigned(fetch, signIn, apiKey, {
            url: baseUrl + pathOfEmbedding(modelId),
            body: JSON.stringify({
              instances: values.map((content) => ({ content, ...task })),
              // A text that is too long is an error, as it is with other vendors.
              parameters: { autoTruncate: false, ...size },
            }),
            headers: { 'content-type': 'application/json' },
            signal: abortSignal,
          })
          return readPredictions(id, await readJsonAnswer(id, response))
        },
      }
    },
    toProviderOptions(body) {
      const taskType = readString(body, 'task_type')
      return { vertex: taskType === undefined ? {} : { taskType } }
    },
  }
}

function readPredictions(provider: string, answer: Readonly<Record<string, unknown>>) {
  const predictions = answer['predictions']
  if (!Array.isArray(predictions)) throw invalidAnswer(provider, 'its answer has no embeddings')
  let tokens: number | undefined = 0
  const embeddings = predictions.map((prediction: unknown) => {
    const count = readNumber(prediction, 'embeddings', 'statistics', 'token_count')
    tokens = tokens === undefined || count === undefined ? undefined : tokens + count
    const values = readPath(prediction, 'embeddings', 'values')
    if (!isVector(values)) throw invalidAnswer(provider, 'an embedding of its answer is none')
    return values
  })
  return { embeddings, usage: tokens === undefined ? undefined : { tokens } }
}

function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'number')
}
