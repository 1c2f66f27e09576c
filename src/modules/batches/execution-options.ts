import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Database } from '../../storage/database.ts'
import type { Files } from '../files/files.ts'
import type { Keys } from '../keys/keys.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Limits } from '../limits/limits.ts'
import type { FindEndpoint } from './endpoint.ts'
import type { FindBatchApi, HandedPace } from './handed/handing.ts'
import type { LinePace } from './pace/line-pace.ts'

/** What work on batches needs. */
export interface ExecutionOptions {
  readonly database: Database
  readonly clock: Clock
  readonly files: Files
  readonly keys: Pick<Keys, 'callerOf'>
  /** Null if billing is off. */
  readonly ledger: Pick<Ledger, 'lookUpBalanceNanoUsd'> | null
  readonly limits: Pick<Limits, 'describe'>
  readonly findEndpoint: FindEndpoint
  /** Whether the lines of a batch may name different models. */
  readonly allowsSeveralModels: boolean
  readonly findBatchApi: FindBatchApi
  readonly handedPace: HandedPace
  /** Of the process. */
  readonly pace: LinePace
  readonly logger: Logger
}
