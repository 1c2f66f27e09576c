import type { InferenceRecord, InferenceRequest } from '../modules/inference/inference.ts'
import type { DirectRequest } from './route.ts'

/** What a module needs of a request of the direct lane. */
export function toInference<Body>(
  { caller, body, text, exchange }: DirectRequest<Body>,
  record: InferenceRecord,
): InferenceRequest<Body> {
  const { id: requestId, requestBytes: bytes, cancellation } = exchange
  return { caller, body, text, bytes, requestId, record, cancellation }
}
