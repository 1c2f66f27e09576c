import type { VendorWire } from './vendor-server.ts'

/** DashScope's video synthesis: https://www.alibabacloud.com/help/en/model-studio/text-to-video-api-reference */
export const alibabaWire: VendorWire = ({ method, path, headers }, { phase, origin }) => {
  if (!headers.authorization?.startsWith('Bearer ')) {
    return {
      status: 401,
      body: { code: 'InvalidApiKey', message: 'Invalid API-key provided.', request_id: 'r' },
    }
  }
  const id = '0385dc79-5ff8'
  if (method === 'POST' && path === '/api/v1/services/aigc/video-generation/video-synthesis') {
    return { body: { output: { task_status: 'PENDING', task_id: id }, request_id: 'r' } }
  }
  if (path === `/api/v1/tasks/${id}/cancel`) {
    return phase === 'running'
      ? { body: { request_id: 'r' } }
      : { status: 400, body: { code: 'UnsupportedOperation', message: 'not pending', request_id: 'r' } }
  }
  if (path !== `/api/v1/tasks/${id}`) return null
  const reply = (output: object, usage?: object) => ({
    body: { request_id: 'r', output: { task_id: id, ...output }, usage },
  })
  if (phase === 'lost') return reply({ task_status: 'UNKNOWN' })
  if (phase === 'running') return reply({ task_status: 'RUNNING' })
  if (phase === 'failed')
    return reply({ task_status: 'FAILED', code: 'InternalError', message: 'Try again later.' })
  if (phase === 'refused') {
    const message = 'Output data may contain inappropriate content.'
    return reply({ task_status: 'FAILED', code: 'DataInspectionFailed', message })
  }
  return reply(
    { task_status: 'SUCCEEDED', video_url: `${origin}/files/result.mp4` },
    { duration: 5, output_video_duration: 5, SR: 720 },
  )
}
