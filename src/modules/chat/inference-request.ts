import type { Caller } from '../keys/keys.ts'
import type { InferenceRecord } from './inference-record.ts'

export interface InferenceRequest<Body> {
  readonly caller: Caller
  readonly body: Body
  readonly rawBody: Buffer
  readonly requestId: string
  readonly record: InferenceRecord
  readonly signal: AbortSignal
}
