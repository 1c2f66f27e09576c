import { withKnownBlocks } from '../../ai-sdk/answer/known-blocks.ts'
import { anthropicVendor } from '../../ai-sdk/vendors/anthropic-vendor.ts'
import { toWebStream } from '../../ai-sdk/exchange/upstream-exchange.ts'
import type { Vendor } from '../../ai-sdk/vendor.ts'
import type { CloudOptions } from '../cloud-options.ts'
import { writeClaudeRequest } from '../claude-request.ts'
import { AWS_EVENT_STREAM, decodeEventStream } from '../decode-event-stream.ts'
import { fetchSigned } from '../signed-fetch.ts'
import { CLAUDE_ON_BEDROCK, pathOfModel } from './bedrock-models.ts'

/** Claude on Bedrock for requests in the chat form: the translation to Anthropic's wire, sent as Bedrock wants it. */
export function createClaudeVendor({ id, baseUrl, signIn }: CloudOptions): Vendor {
  return {
    ...anthropicVendor,
    name: id,
    defaultBaseUrl: baseUrl,
    async createModel({ modelId, apiKey, fetch }) {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      const send = async (_url: unknown, init: RequestInit = {}): Promise<Response> => {
        const text = typeof init.body === 'string' ? init.body : ''
        const isStream = /"stream"\s*:\s*true/.test(text) && JSON.parse(text).stream === true
        const features = new Headers(init.headers).get('anthropic-beta')
        const response = await fetchSigned(fetch, signIn, apiKey, {
          url: baseUrl + pathOfModel(modelId, isStream ? 'invoke-with-response-stream' : 'invoke'),
          body: writeClaudeRequest(
            text,
            features === null ? [] : ['anthropic-beta', features],
            CLAUDE_ON_BEDROCK,
          ),
          headers: { 'content-type': 'application/json' },
          signal: init.signal,
        })
        return isStream && response.ok ? toServerSentEvents(id, response) : response
      }
      return createAnthropic({
        apiKey: 'signed',
        baseURL: baseUrl,
        fetch: withKnownBlocks(send),
      }).languageModel(modelId)
    },
  }
}

function toServerSentEvents(provider: string, response: Response): Response {
  const isBinary = String(response.headers.get('content-type')).startsWith(AWS_EVENT_STREAM)
  if (response.body === null || !isBinary) return response
  return new Response(toWebStream(writeEvents(provider, response.body)), {
    status: response.status,
    headers: { 'content-type': 'text/event-stream' },
  })
}

async function* writeEvents(provider: string, body: ReadableStream<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const batch of decodeEventStream(provider, body))
    yield Buffer.concat(batch.flatMap((payload) => [DATA, payload, END]))
}

const DATA = Buffer.from('data: ')
const END = Buffer.from('\n\n')
