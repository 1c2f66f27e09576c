import type { IncomingHttpHeaders } from 'node:http'
import type { InferenceRecord } from '../../modules/inference/inference.ts'
import { clientRequestIdOf } from '../client-request-id.ts'

const TRACEPARENT_LENGTH_MAX = 128

/** Notes the client's own names of a request and of its trace. */
export function nameByClient(record: InferenceRecord, headers: IncomingHttpHeaders): void {
  record.clientRequestId = clientRequestIdOf(headers)
  const { traceparent } = headers
  if (typeof traceparent === 'string' && traceparent.length <= TRACEPARENT_LENGTH_MAX)
    record.traceparent = traceparent
}
