import type { Vendor } from '../../ai-sdk/vendor.ts'
import { googleVendor } from '../../ai-sdk/vendors/google-vendor.ts'
import type { CloudOptions } from '../cloud-options.ts'
import { fetchSigned } from '../signed-fetch.ts'

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
