import { toWebStream } from '../../ai-sdk/exchange/upstream-exchange.ts'
import type { Vendor } from '../../ai-sdk/vendor.ts'
import { createCloudClaudeVendor } from '../cloud-claude-vendor.ts'
import type { CloudOptions } from '../cloud-options.ts'
import { AWS_EVENT_STREAM, decodeEventStream } from '../decode-event-stream.ts'
import { CLAUDE_ON_BEDROCK, pathOfModel } from './bedrock-models.ts'

export function createClaudeVendor(options: CloudOptions): Vendor {
  return createCloudClaudeVendor(options, {
    form: CLAUDE_ON_BEDROCK,
    pathOf: (modelId, isStream) => pathOfModel(modelId, isStream ? 'invoke-with-response-stream' : 'invoke'),
    readStream: (response) => toServerSentEvents(options.id, response),
  })
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
