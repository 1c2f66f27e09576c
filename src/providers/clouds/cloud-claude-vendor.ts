import { isRecord } from '../../kernel/is-record.ts'
import { withKnownBlocks } from '../ai-sdk/answer/known-blocks.ts'
import { parseJson } from '../ai-sdk/exchange/read-json.ts'
import type { Vendor } from '../ai-sdk/vendor.ts'
import { anthropicVendor } from '../ai-sdk/vendors/anthropic-vendor.ts'
import { selectClaudeHeaders, writeClaudeRequest, type ClaudeOnCloud } from './claude-request.ts'
import type { CloudOptions } from './cloud-options.ts'
import { fetchSigned } from './signed-fetch.ts'

interface ClaudeCalls {
  readonly form: ClaudeOnCloud
  readonly pathOf: (modelId: string, isStream: boolean) => string
  /** Returns a streamed answer as Anthropic would send it, if the cloud has another form. */
  readonly readStream?: (response: Response) => Response
}

/** Claude on a cloud for requests in the chat form: the translation to Anthropic's wire, sent as the cloud wants it. */
export function createCloudClaudeVendor(
  { id, baseUrl, signIn }: CloudOptions,
  { form, pathOf, readStream = (response) => response }: ClaudeCalls,
): Vendor {
  return {
    ...anthropicVendor,
    name: id,
    defaultBaseUrl: baseUrl,
    async createModel({ modelId, apiKey, fetch }) {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      const send = async (_url: unknown, init: RequestInit = {}): Promise<Response> => {
        const text = typeof init.body === 'string' ? init.body : ''
        const isStream = asksForStream(text)
        const headers = [...new Headers(init.headers)].flat()
        const response = await fetchSigned(fetch, signIn, apiKey, {
          url: baseUrl + pathOf(modelId, isStream),
          body: writeClaudeRequest(text, headers, form),
          headers: toRecord(selectClaudeHeaders(headers, form)),
          signal: init.signal,
        })
        return isStream && response.ok ? readStream(response) : response
      }
      const anthropic = createAnthropic({ apiKey: 'signed', baseURL: baseUrl, fetch: withKnownBlocks(send) })
      return anthropic.languageModel(modelId)
    },
  }
}

/** Parses only texts that may say so. */
function asksForStream(text: string): boolean {
  if (!/"stream"\s*:\s*true/.test(text)) return false
  const body = parseJson(text)
  return isRecord(body) && body['stream'] === true
}

/** From alternating names and values. */
function toRecord(headers: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1] ?? '']] : [])),
  )
}
