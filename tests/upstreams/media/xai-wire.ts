import { PNG_BASE64, type VendorWire } from './vendor-server.ts'

/** xAI's images and videos: https://docs.x.ai/docs/guides/video-generations */
export const xaiWire: VendorWire = ({ method, path, headers }, { phase, origin }) => {
  if (!headers.authorization?.startsWith('Bearer ')) return { status: 401, body: { error: 'no credentials' } }
  if (path === '/v1/images/generations' || path === '/v1/images/edits') {
    if (phase === 'refused') {
      return {
        status: 400,
        body: {
          code: 'Client specified an invalid argument',
          error: 'Generated image rejected by content moderation.',
        },
      }
    }
    return { body: { data: [{ b64_json: PNG_BASE64, revised_prompt: 'a red boat' }] } }
  }
  if (method === 'POST' && path === '/v1/videos/generations') return { body: { request_id: 'a3d1008e' } }
  if (path !== '/v1/videos/a3d1008e') return null
  if (phase === 'lost') return { status: 404, body: { code: 'not-found', error: 'Request not found' } }
  if (phase === 'running') return { status: 202, body: { status: 'pending', progress: 40 } }
  if (phase === 'failed') {
    return { body: { status: 'failed', error: { code: 'internal_error', message: 'Generation failed' } } }
  }
  const video = { url: `${origin}/files/result.mp4`, duration: 5, respect_moderation: phase !== 'refused' }
  return { body: { status: 'done', video, model: 'grok-imagine-video' } }
}
