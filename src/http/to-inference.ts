import type { InferenceRecord, InferenceRequest } from '../modules/inference/inference.ts'
import type { DirectRequest } from './route.ts'

/** What a module needs of a request of a hot route. */
export function toInference<Body>(
  { caller, body, text, exchange }: Pick<DirectRequest<Body>, 'caller' | 'body' | 'text' | 'exchange'>,
  record: InferenceRecord,
  headers?: readonly string[],
): InferenceRequest<Body> {
  const { id: requestId, requestBytes: bytes, cancellation } = exchange
  const inference = { caller, body, text, bytes, requestId, record, cancellation }
  return headers === undefined ? inference : { ...inference, headers }
}
