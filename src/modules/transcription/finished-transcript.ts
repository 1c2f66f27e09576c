import type { NanoUsd } from '../../kernel/money.ts'
import type { Transcript } from '../../providers/audio-operations.ts'

/** A transcript that is paid for. */
export interface FinishedTranscript extends Transcript {
  readonly isTranslation: boolean
  /** What is charged. */
  readonly durationSeconds: number
  readonly costNanoUsd: NanoUsd
}
