import { withKnownBlocks } from '../../ai-sdk/answer/known-blocks.ts'
import type { Vendor } from '../../ai-sdk/vendor.ts'
import { anthropicVendor } from '../../ai-sdk/vendors/anthropic-vendor.ts'
import { googleVendor } from '../../ai-sdk/vendors/google-vendor.ts'
import type { CloudOptions } from '../cloud-options.ts'
import { writeClaudeRequest } from '../claude-request.ts'
import { fetchSigned } from '../signed-fetch.ts'
import { CLAUDE_ON_VERTEX, pathOfClaude } from './vertex-models.ts'

/** Gemini on Vertex: the wire is that of Google's other API, the address is a publisher's. */
export function createGeminiVendor({ id, baseUrl, signIn }: CloudOptions): Vendor {
  return {
    ...googleVendor,
    name: id,
    defaultBaseUrl: baseUrl,
    async createModel({ modelId, apiKey, fetch }) {
      const { createGoogle } = await import('@ai-sdk/google')
      return createGoogle({
        apiKey: 'signed',
        baseURL: `${baseUrl}/publishers/google`,
        fetch: async (url, init = {}) =>
          fetchSigned(fetch, signIn, apiKey, {
            url: url instanceof Request ? url.url : String(url),
            body: typeof init.body === 'string' ? init.body : '',
            headers: Object.fromEntries(new Headers(init.headers)),
            signal: init.signal,
          }),
      }).languageModel(modelId)
    },
  }
}

/** Claude on Vertex for requests in the chat form. */
export function createClaudeVendor({ id, baseUrl, signIn }: CloudOptions): Vendor {
  return {
    ...anthropicVendor,
    name: id,
    defaultBaseUrl: baseUrl,
    async createModel({ modelId, apiKey, fetch }) {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      const send = async (_url: unknown, init: RequestInit = {}): Promise<Response> => {
        const text = typeof init.body === 'string' ? init.body : ''
        const isStream = text.includes('"stream":true') && JSON.parse(text).stream === true
        return fetchSigned(fetch, signIn, apiKey, {
          url: baseUrl + pathOfClaude(modelId, isStream),
          body: writeClaudeRequest(text, [], CLAUDE_ON_VERTEX),
          headers: Object.fromEntries(new Headers(init.headers)),
          signal: init.signal,
        })
      }
      const anthropic = createAnthropic({ apiKey: 'signed', baseURL: baseUrl, fetch: withKnownBlocks(send) })
      return anthropic.languageModel(modelId)
    },
  }
}
