import { PNG_BASE64, type VendorWire } from './vendor-server.ts'

const TASKS = '/api/v3/contents/generations/tasks'

/** ModelArk's video tasks and images: https://docs.byteplus.com/en/docs/ModelArk/1520757 */
export const bytedanceWire: VendorWire = ({ method, path, headers }, { phase, origin }) => {
  if (!headers.authorization?.startsWith('Bearer ')) {
    return {
      status: 401,
      body: { error: { code: 'AuthenticationError', message: 'The API key is missing' } },
    }
  }
  if (path === '/api/v3/images/generations') {
    return phase === 'refused'
      ? { status: 400, body: refusal('InputTextSensitiveContentDetected') }
      : { body: { model: 'seedream-4-5-251128', created: 1, data: [{ b64_json: PNG_BASE64 }] } }
  }
  const id = 'cgt-2026-abc'
  if (method === 'POST' && path === TASKS) return { body: { id } }
  if (path !== `${TASKS}/${id}`) return null
  if (phase === 'lost')
    return { status: 404, body: { error: { code: 'ResourceNotFound', message: 'no task' } } }
  if (method === 'DELETE') {
    return phase === 'running'
      ? { body: {} }
      : { status: 409, body: { error: { code: 'InvalidAction.RunningTaskDeletion', message: 'ended' } } }
  }
  const common = { id, model: 'seedance-1-5-pro-251215' }
  if (phase === 'running') return { body: { ...common, status: 'running' } }
  if (phase === 'failed') {
    const error = { code: 'InternalServiceError', message: 'The service encountered an unexpected error.' }
    return { body: { ...common, status: 'failed', error } }
  }
  if (phase === 'refused') {
    return { body: { ...common, status: 'failed', ...refusal('OutputVideoSensitiveContentDetected') } }
  }
  const content = { video_url: `${origin}/files/result.mp4` }
  return { body: { ...common, status: 'succeeded', content, duration: 5, resolution: '720p', ratio: '16:9' } }
}

function refusal(code: string) {
  return { error: { code, message: 'The request failed because it may contain sensitive information.' } }
}
