import type { Cancellation } from '../../kernel/cancellation.ts'
import type { SpeechWork } from '../../providers/media/media-work.ts'
import type { InferenceRecord } from '../inference/inference.ts'
import type { Caller } from '../keys/keys.ts'

export interface SpeechOrder {
  readonly caller: Caller
  readonly requestId: string
  readonly record: InferenceRecord
  readonly cancellation: Cancellation
  readonly model: string
  readonly work: SpeechWork
}
