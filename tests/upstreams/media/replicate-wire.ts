import type { VendorWire } from './vendor-server.ts'

/** Replicate's predictions: https://replicate.com/docs/reference/http */
export const replicateWire: VendorWire = ({ method, path, headers, body }, { phase, origin }) => {
  if (!headers.authorization?.startsWith('Bearer ')) {
    return {
      status: 401,
      body: { title: 'Unauthenticated', detail: 'You did not pass a token', status: 401 },
    }
  }
  const id = 'rrr4z55ocneqzikepnug6xezpe'
  const urls = { get: `${origin}/v1/predictions/${id}`, cancel: `${origin}/v1/predictions/${id}/cancel` }
  if (method === 'POST' && /^\/v1\/models\/[\w-]+\/[\w.-]+\/predictions$/.test(path)) {
    return {
      status: 201,
      body: { id, status: 'starting', input: inputOf(body), output: null, error: null, urls },
    }
  }
  if (!path.startsWith('/v1/predictions/')) return null
  if (phase === 'lost')
    return { status: 404, body: { detail: 'The requested resource could not be found.', status: 404 } }
  if (path.endsWith('/cancel'))
    return { body: { id, status: phase === 'running' ? 'canceled' : 'succeeded', urls } }
  const common = { id, urls, output: null, error: null }
  if (phase === 'running') return { body: { ...common, status: 'processing' } }
  if (phase === 'failed') return { body: { ...common, status: 'failed', error: 'CUDA out of memory' } }
  if (phase === 'refused') {
    return { body: { ...common, status: 'failed', error: 'NSFW content detected. Try a different prompt.' } }
  }
  return { body: { ...common, status: 'succeeded', output: [`${origin}/files/result.png`] } }
}

function inputOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'input' in body ? body.input : null
}
