import { PNG_BASE64, type VendorRequest, type VendorState, type VendorWire } from './vendor-server.ts'

const OPERATION = 'models/veo-3.1-generate-preview/operations/abc123'
const INTERACTION = 'v1_interaction'

/**
 * Google's images by `generateContent` and Imagen's by `predict`, Veo by long-running operations, Omni by interactions. All
 * require the key in a header.
 */
export const googleMediaWire: VendorWire = (request, state) => {
  if (request.headers['x-goog-api-key'] === undefined) {
    return { status: 403, body: { error: { code: 403, message: 'no key', status: 'PERMISSION_DENIED' } } }
  }
  if (request.path.endsWith(':generateContent')) return answerImage(state)
  if (request.path.endsWith(':predict')) return answerPrediction(request, state)
  if (request.path.includes('/interactions')) return answerInteraction(request, state)
  return answerOperation(request, state)
}

function answerImage({ phase }: VendorState) {
  if (phase === 'refused') {
    return { body: { candidates: [{ content: { parts: [] }, finishReason: 'IMAGE_SAFETY', index: 0 }] } }
  }
  const inlineData = { mimeType: 'image/png', data: PNG_BASE64 }
  const candidate = { content: { role: 'model', parts: [{ inlineData }] }, finishReason: 'STOP', index: 0 }
  return {
    body: { candidates: [candidate], usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1290 } },
  }
}

/** https://ai.google.dev/gemini-api/docs/imagen, as it was served until August 2026. */
function answerPrediction({ path, body }: VendorRequest, { phase }: VendorState) {
  if (!/^\/v1beta\/models\/imagen-[\w.-]+:predict$/.test(path)) return null
  const { instances, parameters } = body as { instances: unknown[]; parameters: { sampleCount: number } }
  if (instances.length !== 1 || parameters.sampleCount > 4) {
    const message = 'Sample count must be between 1 and 4.'
    return { status: 400, body: { error: { code: 400, message, status: 'INVALID_ARGUMENT' } } }
  }
  const prediction =
    phase === 'refused'
      ? { raiFilteredReason: 'The prompt could not be submitted: it goes against the usage guidelines.' }
      : { mimeType: 'image/png', bytesBase64Encoded: PNG_BASE64 }
  return { body: { predictions: Array.from({ length: parameters.sampleCount }, () => prediction) } }
}

function answerOperation({ method, path }: VendorRequest, { phase, origin }: VendorState) {
  if (method === 'POST' && path.endsWith(':predictLongRunning')) return { body: { name: OPERATION } }
  if (path !== `/v1beta/${OPERATION}`) return null
  if (phase === 'lost') {
    return {
      status: 404,
      body: { error: { code: 404, message: 'Operation not found', status: 'NOT_FOUND' } },
    }
  }
  if (phase === 'running') return { body: { name: OPERATION } }
  if (phase === 'failed') {
    return {
      body: { name: OPERATION, done: true, error: { code: 13, message: 'Internal error encountered.' } },
    }
  }
  const generateVideoResponse =
    phase === 'refused'
      ? {
          raiMediaFilteredCount: 1,
          raiMediaFilteredReasons: ['The prompt goes against our usage guidelines.'],
        }
      : { generatedSamples: [{ video: { uri: `${origin}/files/video:download.mp4?alt=media` } }] }
  return { body: { name: OPERATION, done: true, response: { generateVideoResponse } } }
}

function answerInteraction({ method, path }: VendorRequest, { phase, origin }: VendorState) {
  if (method === 'POST' && path === '/v1beta/interactions') {
    return { body: { id: INTERACTION, status: 'in_progress', object: 'interaction' } }
  }
  if (path === `/v1beta/interactions/${INTERACTION}/cancel`) {
    return phase === 'running'
      ? { body: { id: INTERACTION, status: 'cancelled' } }
      : { status: 400, body: { error: { code: 'invalid_request', message: 'not running' } } }
  }
  if (path !== `/v1beta/interactions/${INTERACTION}`) return null
  if (phase === 'lost') {
    return { status: 400, body: { error: { code: 'invalid_request', message: 'Invalid interaction name.' } } }
  }
  if (phase === 'running') return { body: { id: INTERACTION, status: 'in_progress' } }
  if (phase === 'failed') {
    return {
      body: { id: INTERACTION, status: 'failed', error: { code: 'internal', message: 'Something broke.' } },
    }
  }
  const content =
    phase === 'refused'
      ? [{ type: 'text', text: 'I cannot make this video.' }]
      : [{ type: 'video', uri: `${origin}/files/video:download.mp4?alt=media`, mime_type: 'video/mp4' }]
  return { body: { id: INTERACTION, status: 'completed', steps: [{ type: 'model_output', content }] } }
}
