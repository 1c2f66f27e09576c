import type { NanoUsd } from '../../kernel/money.ts'
import type { Transcript } from '../../providers/media/audio-operations.ts'

/** A transcript that has been charged. */
export interface FinishedTranscript extends Transcript {
  readonly isTranslation: boolean
  /** The charged duration. */
  readonly durationSeconds: number
  readonly costNanoUsd: NanoUsd
}
