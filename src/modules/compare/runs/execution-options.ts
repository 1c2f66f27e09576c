import type { Cancellation } from '../../../kernel/cancellation.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { Database } from '../../../storage/database.ts'
import type { Batches } from '../../batches/batches.ts'
import type { Files } from '../../files/files.ts'
import type { Keys } from '../../keys/keys.ts'
import type { AskChat } from '../cells/ask-chat.ts'
import type { FindInterval } from '../cells/lane-stats.ts'
import type { LiveSender } from '../live/live-sender.ts'
import type { AskScorer } from '../scores/ask-scorer.ts'
import type { Run, RunError } from './run.ts'

export interface ExecutionOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ask: AskChat
  readonly keys: Pick<Keys, 'callerOf'>
  readonly batches: Pick<Batches, 'create' | 'readMany' | 'readResults'>
  readonly files: Pick<Files, 'store' | 'delete'>
  /** False if billing is off. */
  readonly isBilled: boolean
  readonly judge: RunJudge | null
  readonly askScorer: AskScorer
  readonly findInterval: FindInterval
  readonly live: Pick<LiveSender, 'open'>
  readonly logger: Logger
}

/** Compares the answers after all cells have ended. */
interface RunJudge {
  /** Resolves with the reason of a failure, or null when it is done or cancelled. */
  judgeRun(run: Run, cancellation: Cancellation): Promise<RunError | null>
}
