import { PNG_BASE64, type VendorWire } from './vendor-server.ts'

/** Fireworks' workflows: https://docs.fireworks.ai/api-reference/generate-or-edit-image-using-flux-kontext */
export const fireworksWire: VendorWire = ({ path }, { phase, origin }) => {
  if (path.endsWith('/text_to_image')) {
    if (phase === 'refused')
      return { status: 400, body: { error: { message: 'blocked by the safety filter' } } }
    return { bytes: Buffer.from(PNG_BASE64, 'base64'), headers: { 'content-type': 'image/png' } }
  }
  const id = 'req-1'
  if (!path.endsWith('/get_result')) return { body: { request_id: id } }
  if (phase === 'lost') return { body: { id, status: 'Task not found', result: null } }
  if (phase === 'running') return { body: { id, status: 'Pending', result: null, progress: 0.5 } }
  if (phase === 'failed') return { body: { id, status: 'Error', result: null, details: 'worker died' } }
  if (phase === 'refused') return { body: { id, status: 'Request Moderated', result: null } }
  return { body: { id, status: 'Ready', result: { sample: `${origin}/files/result.png` } } }
}
