import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { toWebStream } from '../../../ai-sdk/exchange/upstream-exchange.ts'
import type { Vendor } from '../../../ai-sdk/vendor.ts'
import { invalidAnswer } from '../../../failures/upstream-error.ts'
import type { CloudOptions } from '../../cloud-options.ts'
import { AWS_EVENT_STREAM } from '../../decode-event-stream.ts'
import { readFailure, readJsonAnswer } from '../../read-json-answer.ts'
import { fetchSigned } from '../../signed-fetch.ts'
import { hasCachePoints, pathOfModel } from '../bedrock-models.ts'
import { readConverseAnswer } from './read-answer.ts'
import { readConverseStream } from './read-stream.ts'
import { writeConverseRequest } from './write-request.ts'

/**
 * Models of all publishers on Bedrock, by the wire that they have in common.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference.html
 */
export function createConverseVendor({ id, baseUrl, signIn }: CloudOptions): Vendor {
  return {
    key: 'bedrock',
    name: id,
    defaultBaseUrl: baseUrl,
    createModel: async ({ modelId, apiKey, fetch }) => {
      const send = async (operation: string, options: LanguageModelV4CallOptions): Promise<Response> =>
        fetchSigned(fetch, signIn, apiKey, {
          url: baseUrl + pathOfModel(modelId, operation),
          body: writeConverseRequest(options, { hasCachePoints: hasCachePoints(modelId) }),
          headers: { 'content-type': 'application/json' },
          signal: options.abortSignal,
        })
      return createConverseModel(id, modelId, send)
    },
    normalizeMediaType: (mediaType) => mediaType,
    // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html
    normalizeCallId: (callId) => callId.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, CALL_ID_LENGTH_MAX),
    needsJsonInstruction: () => true,
    selectStopSequences: (stopSequences) => [...stopSequences],
    // How much a model reasons is said in a way of its own by each publisher.
    refineOptions: (options) => options,
  }
}

const CALL_ID_LENGTH_MAX = 64

type Send = (operation: string, options: LanguageModelV4CallOptions) => Promise<Response>

function createConverseModel(provider: string, modelId: string, send: Send): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider,
    modelId,
    supportedUrls: {},
    async doGenerate(options) {
      return readConverseAnswer(provider, await readJsonAnswer(provider, await send('converse', options)))
    },
    async doStream(options) {
      const response = await send('converse-stream', options)
      if (!response.ok) throw await readFailure(provider, response)
      const isBinary = String(response.headers.get('content-type')).startsWith(AWS_EVENT_STREAM)
      if (response.body === null || !isBinary) throw invalidAnswer(provider, 'its answer is no event stream')
      return { stream: toWebStream(readConverseStream(provider, response.body)) }
    },
  }
}
