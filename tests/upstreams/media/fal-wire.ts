import type { VendorWire } from './vendor-server.ts'

const JOB_PATH = /^\/([\w-]+\/[\w.-]+)\/requests\/([\w-]+)(\/status|\/cancel)?$/

/** Fal's queue: submit at the model's address, status, result and cancel under its application. */
export const falWire: VendorWire = ({ method, path, headers }, { phase, origin }) => {
  if (!headers.authorization?.startsWith('Key ')) {
    return { status: 401, body: { detail: 'Authentication is required to access this application.' } }
  }
  const job = JOB_PATH.exec(path)
  if (job === null) {
    if (method !== 'POST') return null
    const application = path.split('/').slice(1, 3).join('/')
    const url = `${origin}/${application}/requests/764cabcf-b745`
    return {
      body: {
        status: 'IN_QUEUE',
        request_id: '764cabcf-b745',
        response_url: url,
        status_url: `${url}/status`,
        cancel_url: `${url}/cancel`,
        queue_position: 0,
      },
    }
  }
  const [, application = '', , call = ''] = job
  if (phase === 'lost') return { status: 404, body: { detail: 'Request not found' } }
  if (call === '/cancel') {
    return phase === 'running'
      ? { status: 202, body: { status: 'CANCELLATION_REQUESTED' } }
      : { status: 400, body: { status: 'ALREADY_COMPLETED' } }
  }
  if (call === '/status') {
    return phase === 'running'
      ? { status: 202, body: { status: 'IN_PROGRESS', logs: null } }
      : { body: { status: 'COMPLETED', logs: null, metrics: { inference_time: 3.2 } } }
  }
  if (phase === 'failed') return { status: 500, body: { detail: 'Internal Server Error' } }
  if (phase === 'refused') {
    return {
      status: 422,
      body: {
        detail: [
          {
            loc: ['body', 'prompt'],
            msg: 'The content could not be processed because it was flagged by a content checker.',
            type: 'content_policy_violation',
          },
        ],
      },
    }
  }
  return { body: resultOf(application, origin) }
}

const VIDEO_APPLICATIONS = new Set(['fal-ai/veo3.1', 'fal-ai/minimax', 'fal-ai/luma-dream-machine'])
const SINGLE_IMAGE_APPLICATIONS = new Set(['fal-ai/clarity-upscaler', 'fal-ai/birefnet'])

function resultOf(application: string, origin: string) {
  if (VIDEO_APPLICATIONS.has(application)) {
    return { video: { url: `${origin}/files/result.mp4`, content_type: 'video/mp4', file_size: 24 } }
  }
  const image = { url: `${origin}/files/result.png`, content_type: 'image/png', width: 1024, height: 1024 }
  if (SINGLE_IMAGE_APPLICATIONS.has(application)) return { image, seed: 1 }
  return { images: [image], seed: 1, has_nsfw_concepts: [false], prompt: 'a boat' }
}
