import type { VendorWire } from './vendor-server.ts'

/** FLUX's API: https://docs.bfl.ai/quick_start/generating_images */
export const blackForestLabsWire: VendorWire = ({ method, path, headers, query }, { phase, origin }) => {
  if (headers['x-key'] === undefined) return { status: 403, body: { detail: 'Not authenticated' } }
  const id = '0f1b2c3d'
  if (method === 'POST' && path.startsWith('/v1/flux')) {
    return { body: { id, polling_url: `${origin}/v1/get_result?id=${id}`, cost: 4 } }
  }
  if (path !== '/v1/get_result' || query.get('id') !== id) return null
  if (phase === 'lost') return { status: 404, body: { id, status: 'Task not found', result: null } }
  if (phase === 'running') return { body: { id, status: 'Pending', result: null, progress: 0.4 } }
  if (phase === 'failed') return { body: { id, status: 'Error', result: null, details: null } }
  if (phase === 'refused') {
    return {
      body: { id, status: 'Content Moderated', result: null, details: { 'Moderation Reasons': ['Nudity'] } },
    }
  }
  return { body: { id, status: 'Ready', result: { sample: `${origin}/files/result.png`, seed: 42 } } }
}
