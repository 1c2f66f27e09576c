import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { Database } from '../../storage/database.ts'
import type { MessageBus } from '../../storage/bus/message-bus.ts'
import type { Place } from '../../storage/place.ts'
import type { Batches } from '../batches/batches.ts'
import type { Inference } from '../inference/inference.ts'
import type { Reader } from '../keys/keys.ts'
import type { WebhookHosts } from '../tasks/tasks.ts'
import { cancelRun, pinRun, resumeRun, type ResumeChanges } from './runs/change-run.ts'
import { createRun, estimateOrder } from './runs/create-run.ts'
import type { RunEstimate } from './runs/estimate-run.ts'
import { createFollowRun, type FollowRun } from './live/follow-run.ts'
import type { RunOrder } from './runs/new-run.ts'
import {
  listCells,
  streamCells,
  type AskedCell,
  type CellFilter,
  type CellPage,
  type CellPageRequest,
} from './cells/read-cells.ts'
import { chooseFailures, readRunPrompts, type FailureChoice } from './datasets/choose-prompts.ts'
import { readBatchesOfRun, type BatchOfLane } from './batched/batches-of-run.ts'
import { readPrompts, type PromptExcerpt } from './datasets/read-prompts.ts'
import { listRuns, readRun, type RunFilter } from './runs/read-runs.ts'
import type { PromptCase } from './prompt-case.ts'
import type { Cell, Run } from './runs/run.ts'
import { CANCELLED_TOPIC } from './runs/runner.ts'

export { findUseByRun } from './batched/find-use-by-run.ts'
export type { BatchOfLane } from './batched/batches-of-run.ts'
export { createAskChat, type AskChat } from './cells/ask-chat.ts'
export { ChatCall, type ChatCallOptions } from './cells/chat-call.ts'
export { cellBody, cellSeed } from './cells/cell-body.ts'
export { reclaimRuns } from './runs/claim-run.ts'
export { explainUnkeepable } from './runs/create-run.ts'
export type { Dataset, DatasetContent } from './datasets/dataset.ts'
export { DATASET_BYTES_MAX } from './datasets/dataset-file.ts'
export { readDatasetInThread } from './datasets/read-dataset-in-thread.ts'
export { createDatasets, type Datasets } from './datasets/datasets.ts'
export type { RunEvent } from './live/follow-run.ts'
export type { LaneOrder, RunOrder } from './runs/new-run.ts'
export { PROMPTS_MAX, PromptInputs, toPromptCases, type PromptCase } from './prompt-case.ts'
export { FAILURE_KINDS } from './datasets/choose-prompts.ts'
export { readLoggedPrompts, type LoggedPromptsOptions } from './datasets/read-logged-prompts.ts'
export type { AskedCell } from './cells/read-cells.ts'
export { EXCERPT_LENGTH_MAX, type PromptExcerpt } from './datasets/read-prompts.ts'
export { CELL_STATUSES, RUN_STATUSES } from './runs/run.ts'
export type { Cell, Lane, Run } from './runs/run.ts'
export { createAskScorer } from './scores/ask-scorer.ts'
export { ScoreInputs, toScoreOrders } from './scores/score-order.ts'
export { createRunner, type Runner } from './runs/runner.ts'
export { sweepRuns } from './runs/sweep-runs.ts'

/** Compares models side by side: each prompt is asked of each lane, one chat call per cell. */
export interface Compare {
  create(order: RunOrder): Promise<Run>
  /** Returns about what a run would cost and take, without making it. */
  estimate(order: RunOrder): RunEstimate
  read(place: Place, runId: string): Promise<Run>
  /** The batches that ask its cells, in the order in which they were made. */
  readBatches(run: Run): Promise<readonly BatchOfLane[]>
  list(reader: Reader, filter: RunFilter, page: PageRequest): Promise<Page<Run>>
  listCells(run: Run, filter: CellFilter, page: CellPageRequest): Promise<CellPage>
  /** The beginning of each prompt that these cells answer. */
  readPrompts(run: Run, cells: readonly Cell[]): Promise<readonly PromptExcerpt[]>
  /** All prompts of a run, in their order. */
  readRunPrompts(run: Run): Promise<readonly PromptCase[]>
  /** The prompts of a run with an answer that failed, in their order. */
  chooseFailures(run: Run, choice: FailureChoice): Promise<readonly PromptCase[]>
  /** All cells, a part at a time. */
  streamCells(run: Run): AsyncIterable<readonly AskedCell[]>
  /** What its cells answer while they are answered, until the run ends. */
  readonly follow: FollowRun
  /** Throws `conflict` if the run has ended in another way. */
  cancel(place: Place, runId: string): Promise<Run>
  /** Throws `run_not_resumable` if the run is running or has nothing left to ask. */
  resume(place: Place, runId: string, changes: ResumeChanges): Promise<Run>
  /** Keeps the run beyond the retention period. */
  pin(place: Place, runId: string): Promise<Run>
}

export interface CompareOptions {
  readonly database: Database
  readonly messageBus: Pick<MessageBus, 'subscribe' | 'publish'>
  readonly inference: Pick<Inference, 'selectorFor'>
  readonly batches: Pick<Batches, 'cancelWithin' | 'tellCancelled' | 'priceLines' | 'readMany'>
  readonly clock: Clock
  readonly webhookHosts: WebhookHosts
  readonly logger: Logger
}

export function createCompare(options: CompareOptions): Compare {
  const { database, messageBus, inference, batches, clock, webhookHosts, logger } = options
  const selector = inference.selectorFor(['llm'], ({ chat }) => chat !== undefined)
  return {
    create: (order) => createRun({ database, selector, batches, clock, webhookHosts }, order),
    estimate: (order) => estimateOrder({ selector, batches }, order),
    read: (place, runId) => readRun(database, place, runId),
    readBatches: (run) => readBatchesOfRun({ database, batches }, run),
    list: (reader, filter, page) => listRuns(database, reader, filter, page),
    listCells: (run, filter, page) => listCells(database, run, filter, page),
    readPrompts: (run, cells) => readPrompts(database, run, cells),
    readRunPrompts: (run) => readRunPrompts(database, run),
    chooseFailures: (run, choice) => chooseFailures(database, run, choice),
    streamCells: (run) => streamCells(database, run),
    follow: createFollowRun({ messageBus, read: (place, runId) => readRun(database, place, runId) }),
    cancel: async (place, runId) => {
      const run = await cancelRun(database, batches, { place, runId })
      messageBus.publish(CANCELLED_TOPIC, run.id).catch((error: unknown) => {
        logger.warn({ err: error }, 'others could not be told of a cancelled run')
      })
      return run
    },
    resume: (place, runId, changes) => resumeRun(database, place, runId, changes),
    pin: (place, runId) => pinRun(database, place, runId),
  }
}
