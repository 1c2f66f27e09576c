import { Type, type Static } from 'typebox'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import { BATCH_STATUSES } from '../../../modules/batches/batches.ts'
import { RUN_STATUSES, type BatchOfLane, type Run } from '../../../modules/compare/compare.ts'
import type { BlindView, JudgingProgress, RunDecision } from '../../../modules/judging/judging.ts'
import { described } from '../../../wires/described.ts'
import { orNull } from '../../../wires/nullable.ts'
import { batchIdOf } from '../../../wires/openai-files/batch-id.ts'
import {
  CostUsd,
  CreatedAt,
  Id,
  ModelId,
  UpdatedAt,
  UuidId,
  objectName,
} from '../../../wires/usual-members.ts'
import { RequestCounts, requestCountsOf } from '../batches/batch-wire.ts'
import { RUN_MODES } from './compare-run-request.ts'
import { ErrorAnswer, errorAnswer, Timestamp, timestampOf, Uuid } from './compare-cell-wire.ts'
import { DecisionAnswer, toDecisionAnswer } from './compare-decision-wire.ts'
import {
  LaneAnswer,
  LaneResults,
  summarizeLane,
  toAnswers,
  toLaneAnswer,
  type LaneAnswers,
} from './compare-lane-wire.ts'

const JudgingAnswer = Type.Object(
  {
    status: Type.Enum(['waiting', 'running', 'completed', 'incomplete', 'failed'], {
      description:
        'Of the judge: it waits for the answers, is being asked, or has ended; `incomplete` when some questions have no ' +
        'readable answer, `failed` when none has one.',
    }),
    judgements_total: Type.Integer({
      description: 'Questions to it: each pair of answers in both orders, and each answer that it scores.',
    }),
    judgements_done: Type.Integer({ description: 'How many of them it answered.' }),
    judgements_failed: Type.Integer({ description: 'How many of them failed.' }),
    cost_usd: CostUsd,
    error: orNull(ErrorAnswer, 'The first failure. `null` when there is none.'),
  },
  { title: 'CompareJudging' },
)

const RunBatchAnswer = Type.Object(
  {
    id: Id,
    lane_id: described(Uuid, 'The lane whose cells are its lines.'),
    status: Type.Enum([...BATCH_STATUSES], { description: 'How far it is.' }),
    request_counts: RequestCounts,
  },
  { title: 'CompareRunBatch' },
)

export const RunAnswer = Type.Object(
  {
    id: UuidId,
    object: objectName('compare.run'),
    name: Type.String({ description: 'The name that people gave it.' }),
    status: Type.Enum([...RUN_STATUSES], { description: 'The state it is in.' }),
    models: Type.Array(Type.String(), { description: 'The models of its lanes.' }),
    lanes: Type.Array(LaneAnswer, { description: 'The lanes: models with their parameters, side by side.' }),
    repeats: Type.Integer({ description: 'How often each lane answers each prompt.' }),
    mode: Type.Enum([...RUN_MODES], {
      description:
        'How its cells are asked: one by one, or as lines of batches, whose answers have no times.',
    }),
    batches: orNull(
      Type.Array(RunBatchAnswer),
      'The batches that ask its cells, once they are made. `null` in lists, exports and answers to changes, and of runs that are `live`.',
    ),
    concurrency: Type.Integer({ description: 'Cells that are asked at once.' }),
    blind: Type.Boolean({ description: 'Whether the lanes stay hidden until a vote.' }),
    judge: orNull(
      Type.Object({
        model: ModelId,
        rubric: Type.Optional(orNull(Type.String(), 'What the judge looks at, in words.')),
      }),
      'The model that judges the answers. `null`: none.',
    ),
    scores: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
      description: 'What each answer is scored by, as it was ordered, with the name of each.',
    }),
    seed: orNull(
      Type.Integer({ description: 'Decides the order of the lanes in every prompt.' }),
      'Decides the order of the lanes in every prompt. `null` while lanes must not be told apart.',
    ),
    dataset_id: orNull(Uuid, 'The dataset that the prompts come from.'),
    dataset_version: orNull(Type.String(), 'The version of the dataset.'),
    conversation_id: orNull(Uuid, 'The conversation it belongs to.'),
    prompts_total: Type.Integer({ description: 'How many prompts there are.' }),
    cells_total: Type.Integer({ description: 'How many answers the run asks for.' }),
    cells_done: Type.Integer({ description: 'How many of them have come.' }),
    cells_failed: Type.Integer({ description: 'How many of them failed.' }),
    progress: Type.Integer({
      minimum: 0,
      maximum: 100,
      description:
        'How much of it is done, judgements too, from 0 to 100. Below 100 until the run has ended.',
    }),
    judging: orNull(
      JudgingAnswer,
      'How far the judge is. `null` without a judge, in lists, and in answers to changes of the run.',
    ),
    verdict: orNull(
      DecisionAnswer,
      'Which lane to take. `null` until the run has ended, in lists, in answers to changes, and while lanes must not be told apart.',
    ),
    budget_usd: orNull(
      Type.Number(),
      'What it may spend at most, in US dollars. `null`: no limit of its own.',
    ),
    cost_usd: CostUsd,
    estimated_cost_usd: Type.Number({ description: 'Of the whole run, when it was made.' }),
    estimated_duration_seconds: Type.Integer({ description: 'About how long the run takes.' }),
    error: orNull(ErrorAnswer, 'Why it failed. `null` when it did not.'),
    saved: Type.Boolean({ description: 'Whether the run is kept when it is old.' }),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
    started_at: orNull(Timestamp, 'When work on it began. `null` until then.'),
    completed_at: orNull(Timestamp, 'When it ended. `null` until then.'),
    winner_lane_id: orNull(
      Uuid,
      'The lane that the newest vote on the run found the best. `null`: none, or lanes must not be told apart.',
    ),
    results: Type.Record(Type.String(), LaneResults, { description: 'By the id of the lane.' }),
  },
  { title: 'CompareRun' },
)

/** What a run is read with when it is read alone. */
export interface RunDetails {
  readonly answers: LaneAnswers
  readonly judging: JudgingProgress | null
  readonly decision: RunDecision | null
  readonly batches: readonly BatchOfLane[] | null
}

/** Shows the run as this voter may see it. */
export function toRunAnswer(
  run: Run,
  view: BlindView,
  { answers, judging, decision, batches }: RunDetails = NO_DETAILS,
): Record<string, unknown> {
  const lanes = run.lanes.map((lane) => view.presentLane(lane))
  const winnerLaneId = view.isHidden() ? null : run.winnerLaneId
  return {
    id: run.id,
    object: 'compare.run',
    name: run.name,
    status: run.status,
    models: run.lanes.map(({ model }) => model),
    lanes: lanes.map((lane) => toLaneAnswer(lane, winnerLaneId)),
    repeats: run.repeats,
    mode: run.isBatch ? 'batch' : 'live',
    batches: run.isBatch && batches !== null ? batches.map(toRunBatch) : null,
    concurrency: run.concurrency,
    blind: run.isBlind,
    judge: run.judge,
    scores: run.scores,
    seed: view.isHidden() ? null : run.seed,
    dataset_id: run.datasetId,
    dataset_version: run.datasetVersion,
    conversation_id: run.conversationId,
    prompts_total: run.promptsTotal,
    cells_total: run.cellsTotal,
    cells_done: run.cellsDone,
    cells_failed: run.cellsFailed,
    progress: progressOf(run, judging),
    judging: judging === null ? null : toJudging(judging),
    verdict: decision === null ? null : toDecisionAnswer(decision),
    budget_usd: run.budgetNanoUsd === null ? null : usdFromNanoUsd(run.budgetNanoUsd),
    cost_usd: usdFromNanoUsd(run.costNanoUsd),
    estimated_cost_usd: usdFromNanoUsd(run.estimatedCostNanoUsd),
    estimated_duration_seconds: Math.ceil(run.estimatedMs / 1000),
    error: errorAnswer(run.error),
    saved: run.isPinned,
    created_at: timestampOf(run.createdAt),
    updated_at: timestampOf(run.updatedAt),
    started_at: timestampOf(run.startedAt),
    completed_at: timestampOf(run.completedAt),
    winner_lane_id: winnerLaneId,
    results: Object.fromEntries(
      lanes.map((lane) => [
        lane.id,
        { ...summarizeLane(lane), answers: toAnswers(run, lane.id, answers.get(lane.id)) },
      ]),
    ),
  }
}

function toRunBatch({ batch, laneId }: BatchOfLane): Static<typeof RunBatchAnswer> {
  return {
    id: batchIdOf(batch.id),
    lane_id: laneId,
    status: batch.status,
    request_counts: requestCountsOf(batch),
  }
}

export const NO_ANSWERS: RunDetails['answers'] = new Map()
const NO_DETAILS: RunDetails = { answers: NO_ANSWERS, judging: null, decision: null, batches: null }

/** Counts answers and judgements alike. */
function progressOf(run: Run, judging: JudgingProgress | null): number {
  const done = run.cellsDone + run.cellsFailed + (judging === null ? 0 : judging.done + judging.failed)
  const share = Math.floor((done * 100) / (run.cellsTotal + (judging?.total ?? 0)))
  // Between the last answer and its end a run is judged or measured.
  return run.completedAt === null ? Math.min(share, PROGRESS_BEFORE_END_MAX) : Math.min(share, 100)
}

const PROGRESS_BEFORE_END_MAX = 99

function toJudging({
  status,
  total,
  done,
  failed,
  costNanoUsd,
  error,
}: JudgingProgress): Record<string, unknown> {
  return {
    status,
    judgements_total: total,
    judgements_done: done,
    judgements_failed: failed,
    cost_usd: usdFromNanoUsd(costNanoUsd),
    error: errorAnswer(error),
  }
}
