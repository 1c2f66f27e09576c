import type { IncomingMessage } from 'node:http'
import { BodyRefused } from './body-refused.ts'
import { isModelRoute } from './model-routes.ts'
import { boundaryOf, pinFormModel } from './pin-form-model.ts'
import { pinJsonModel } from './pin-json-model.ts'

/** What is sent to the gateway. A null body is passed on as it arrives. */
interface PinnedRequest {
  readonly path: string
  readonly body: Buffer | AsyncIterable<Buffer> | null
}

/** Of JSON bodies, which are read whole. All others are streamed. */
const JSON_BYTES_MAX = 32 * 1024 * 1024

/** Replaces the model that a request names: in JSON, in a form, or in the query of the list of voices. */
export async function pinModel(
  request: IncomingMessage,
  path: string,
  model: string,
): Promise<PinnedRequest> {
  const { method, headers } = request
  if (method === 'GET') return { path: pinQueryModel(path, model), body: null }
  // The gateway reads no compressed bodies.
  if (method !== 'POST' || headers['content-encoding'] !== undefined) return { path, body: null }
  const contentType = headers['content-type'] ?? ''
  if (/^application\/(?:[\w.-]+\+)?json\b/i.test(contentType)) {
    const whole = await readWhole(request)
    return { path, body: pinJsonModel(whole, path, model) ?? whole }
  }
  const boundary = boundaryOf(contentType)
  if (boundary === null) return { path, body: null }
  return { path, body: pinFormModel(bytesOf(request), { boundary, model, isAdded: isModelRoute(path) }) }
}

/** Other routes have a `model` in their query to filter what is listed. */
function pinQueryModel(path: string, model: string): string {
  const [route = '', query = ''] = path.split('?', 2)
  const members = new URLSearchParams(query)
  if (route !== '/v1/audio/voices' || !members.has('model')) return path
  members.set('model', model)
  return `${route}?${members.toString()}`
}

async function readWhole(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of bytesOf(request)) {
    length += part.length
    if (length > JSON_BYTES_MAX)
      throw new BodyRefused(413, 'body_too_large', `The body is larger than ${JSON_BYTES_MAX} bytes.`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** The connection stays open for the answer if not everything is read. */
function bytesOf(request: IncomingMessage): AsyncIterable<Buffer> {
  return request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
}
