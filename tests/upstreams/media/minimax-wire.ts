import type { VendorWire } from './vendor-server.ts'

/** MiniMax's second video API: https://platform.minimax.io/docs/api-reference/video-generation-intro */
export const minimaxWire: VendorWire = ({ method, path, headers }, { phase, origin }) => {
  if (!headers.authorization?.startsWith('Bearer ')) {
    return {
      status: 401,
      body: { type: 'error', error: { type: 'authentication_error', message: 'login fail' } },
    }
  }
  const id = '106916112212032'
  if (method === 'POST' && path === '/v2/video_generation') return { body: { task_id: id } }
  if (path !== `/v2/query/video_generation/${id}`) return null
  if (phase === 'lost') {
    return {
      status: 404,
      body: { type: 'error', error: { type: 'not_found_error', message: 'no such task' } },
    }
  }
  if (phase === 'running') return { body: { task: { id, status: 'running' } } }
  if (phase === 'failed') {
    return { body: { task: { id, status: 'failed', error: { code: 1000, message: 'unknown error' } } } }
  }
  if (phase === 'refused') {
    const error = { code: 1026, message: 'The prompt contains sensitive content.' }
    return { body: { task: { id, status: 'failed', error } } }
  }
  const usage = { total_seconds: 6, output_seconds: 6 }
  return {
    body: { task: { id, status: 'succeeded', content: { url: `${origin}/files/result.mp4` }, usage } },
  }
}
