import { PNG_BASE64, type VendorWire } from './vendor-server.ts'

/** Together's images: https://docs.together.ai/reference/post-images-generations */
export const togetherWire: VendorWire = ({ path }, { phase }) => {
  if (path !== '/v1/images/generations') return null
  if (phase === 'refused') {
    const message = 'NSFW content detected in prompt'
    return { status: 422, body: { error: { message, type: 'invalid_request_error', code: 'nsfw' } } }
  }
  return { body: { id: 'o1', model: 'm', object: 'list', data: [{ index: 0, b64_json: PNG_BASE64 }] } }
}
