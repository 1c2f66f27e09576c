import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Database } from '../../storage/database.ts'
import type { Place } from '../../storage/place.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Keys } from '../keys/keys.ts'
import type { AskChat } from './ask-judge.ts'
import { createBlindView, type BlindView, type ViewedRun } from './blind-lanes.ts'
import { decideRun, type DecidedRun } from './decide-run.ts'
import type { RunDecision } from './run-decision.ts'
import { diffRuns, type RunDiff } from './diff-runs.ts'
import { readJudgements, type ToldJudgement } from './read-judgements.ts'
import { judgeRun, type JudgedRun, type RunError } from './judge-run.ts'
import { readProgress, type JudgingProgress, type ProgressedRun } from './read-progress.ts'
import { readLeaderboard, readRunVerdict, type Ranking, type RunVerdict } from './read-ranking.ts'
import { castVote, readRevealed, type Vote, type VoteFilter, type VoteOrder } from './votes.ts'

export type { BlindView } from './blind-lanes.ts'
export { bootstrapInterval, type Interval } from './bootstrap-interval.ts'
export type { DiffLane, MeasureDiff, RunDiff } from './diff-runs.ts'
export { planQuestions } from './plan-questions.ts'
export type { Standing } from './rank-contestants.ts'
export type { ToldJudgement } from './read-judgements.ts'
export type { RunDecision } from './run-decision.ts'
export type { JudgingProgress } from './read-progress.ts'
export type { Ranking, RunVerdict } from './read-ranking.ts'
export type { Vote, VoteOrder } from './votes.ts'

/** Ranks lanes and models by the votes of users and of a judge, with confidence intervals. */
export interface Judging {
  vote(order: VoteOrder): Promise<Vote>
  /** Returns what this key may see of a run. In a blind run, lanes are visible only for prompts that the key has voted on. */
  viewRun(run: StoredRun, voterId: string): Promise<BlindView>
  /** The same for several runs at once. */
  viewRuns(runs: readonly StoredRun[], voterId: string): Promise<(run: StoredRun) => BlindView>
  /** Returns what the judge of a run said about the answers to some prompts. */
  readJudgements(runId: string, promptIndexes: readonly number[]): Promise<readonly ToldJudgement[]>
  /** Returns which lane of an ended run to take. */
  decideRun(place: Place, run: DecidedRun): Promise<RunDecision>
  /** Returns how far the judge of a run is. Null without a judge. */
  readProgress(run: ProgressedRun): Promise<JudgingProgress | null>
  /** Returns the ranking of the lanes of one run. */
  readVerdict(place: Place, runId: string): Promise<RunVerdict>
  /** Returns the ranking of models over the votes of the account. */
  readLeaderboard(place: Place, filter: VoteFilter): Promise<Ranking>
  /** Compares two runs of one dataset. */
  diffRuns(place: Place, runs: { runId: string; againstRunId: string }): Promise<RunDiff>
}

type StoredRun = ViewedRun & { readonly id: string }

interface JudgingOptions {
  readonly database: Database
  readonly catalog: Pick<Catalog, 'resolve'>
  readonly clock: Clock
}

export function createJudging({ database, catalog, clock }: JudgingOptions): Judging {
  const modelIdOf = (model: string): string => catalog.resolve(model)?.id ?? model
  const viewRuns: Judging['viewRuns'] = async (runs, voterId) => {
    const blindIds = runs.filter(({ isBlind }) => isBlind).map(({ id }) => id)
    const revealedOf = await readRevealed(database, blindIds, voterId)
    return (run) => createBlindView(run, revealedOf(run.id))
  }
  return {
    vote: (order) => castVote(database, order, clock.nowMs()),
    viewRun: async (run, voterId) => (await viewRuns([run], voterId))(run),
    viewRuns,
    readJudgements: (runId, promptIndexes) => readJudgements(database, runId, promptIndexes),
    decideRun: (place, run) => decideRun(database, place, run),
    readProgress: (run) => readProgress(database, run),
    readVerdict: (place, runId) => readRunVerdict(database, place, runId),
    readLeaderboard: (place, filter) => readLeaderboard(database, place, filter, modelIdOf),
    diffRuns: (place, runs) => diffRuns(database, place, runs),
  }
}

/** Judges the answers of a run in the worker process, once they are complete. */
export interface RunJudge {
  /** Returns the error that stopped it, or null if it finished or was cancelled. */
  judgeRun(run: JudgedRun, cancellation: Cancellation): Promise<RunError | null>
}

interface RunJudgeOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ask: AskChat
  readonly keys: Pick<Keys, 'callerOf'>
  /** False if the gateway runs without billing. */
  readonly isBilled: boolean
}

export function createRunJudge(options: RunJudgeOptions): RunJudge {
  return { judgeRun: (run, cancellation) => judgeRun(options, run, cancellation) }
}
