import { PNG_BASE64, type VendorWire } from './vendor-server.ts'

/** OpenAI's images, new and edited. */
export const openAiImageWire: VendorWire = ({ path }) => {
  if (path !== '/v1/images/generations' && path !== '/v1/images/edits') return null
  return {
    body: {
      created: 1,
      data: [{ b64_json: PNG_BASE64 }],
      usage: { total_tokens: 1, input_tokens: 1, output_tokens: 0 },
    },
  }
}
