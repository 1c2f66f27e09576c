import type { VendorWire } from './vendor-server.ts'

const GENERATIONS = '/dream-machine/v1/generations'

/** Luma's generations: https://docs.lumalabs.ai/docs/api */
export const lumaWire: VendorWire = ({ method, path, headers }, { phase, origin }) => {
  if (!headers.authorization?.startsWith('Bearer '))
    return { status: 401, body: { detail: 'Invalid API key' } }
  const common = { id: 'd4a8c6e2', assets: null, failure_reason: null }
  if (method === 'POST' && (path === GENERATIONS || path === `${GENERATIONS}/image`)) {
    return { status: 201, body: { ...common, state: 'queued' } }
  }
  if (path !== `${GENERATIONS}/d4a8c6e2`) return null
  if (phase === 'lost') return { status: 404, body: { detail: 'Generation not found' } }
  if (method === 'DELETE')
    return phase === 'running' ? { status: 204 } : { status: 404, body: { detail: 'Not found' } }
  if (phase === 'running') return { body: { ...common, state: 'dreaming' } }
  if (phase === 'failed')
    return { body: { ...common, state: 'failed', failure_reason: 'Generation timed out' } }
  if (phase === 'refused') {
    return { body: { ...common, state: 'failed', failure_reason: '400: prompt was blocked by moderation' } }
  }
  return { body: { ...common, state: 'completed', assets: { image: `${origin}/files/result.png` } } }
}
