import { createHmac } from 'node:crypto'

import type { VendorRequest, VendorWire } from './vendor-server.ts'

const TASK_PATH = /^\/v1\/videos\/(text2video|image2video)\/([\w-]+)$/
const NO_SUCH_TASK = { code: 1203, message: 'The requested resource does not exist', request_id: 'r' }

/** Kling's tasks: https://app.klingai.com/global/dev/document-api. The secret of `ak-1` is `sk-1`. */
export const klingaiWire: VendorWire = (request, { phase, origin }) => {
  const { method, path } = request
  if (readIssuer(request) === undefined) {
    return { status: 401, body: { code: 1000, message: 'Authentication failed', request_id: 'r' } }
  }
  const data = { task_id: 'kling-1', created_at: 1, updated_at: 1 }
  const reply = (fields: object) => ({
    body: { code: 0, message: 'SUCCEED', request_id: 'r', data: { ...data, ...fields } },
  })
  if (method === 'POST' && /^\/v1\/videos\/(text2video|image2video)$/.test(path)) {
    return reply({ task_status: 'submitted' })
  }
  const id = TASK_PATH.exec(path)?.[2]
  if (id === undefined) return null
  if (phase === 'lost' || !['kling-1', 'req_test'].includes(id)) return { status: 404, body: NO_SUCH_TASK }
  if (phase === 'running') return reply({ task_status: 'processing' })
  if (phase === 'failed') return reply({ task_status: 'failed', task_status_msg: 'Service busy' })
  if (phase === 'refused') {
    const message = 'Failure to pass the risk control system'
    return reply({ task_status: 'failed', task_status_msg: message })
  }
  const videos = [{ id: 'v1', url: `${origin}/files/result.mp4`, duration: '5.1' }]
  return reply({ task_status: 'succeed', task_result: { videos } })
}

/** Returns the issuer of a token that is signed with the right secret. */
export function readIssuer(request: VendorRequest | undefined): string | undefined {
  const [head, claims, signature] = (request?.headers.authorization ?? '').replace('Bearer ', '').split('.')
  if (claims === undefined) return undefined
  const { iss } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { iss: string }
  const expected = createHmac('sha256', iss.replace('ak', 'sk'))
    .update(`${head}.${claims}`)
    .digest('base64url')
  return signature === expected ? iss : undefined
}
