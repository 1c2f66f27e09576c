import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
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
import { listVotes, readRevealed, type GivenVote, type VoteFilter } from './read-votes.ts'
import type { Voter } from './voter.ts'
import { castVote, type Vote, type VoteOrder } from './votes.ts'

export { ALIAS_KEY, type BlindView } from './blind-lanes.ts'
export { bootstrapInterval, type Interval } from './bootstrap-interval.ts'
export type { DiffLane, MeasureDiff, RunDiff } from './diff-runs.ts'
export { planQuestions } from './plan-questions.ts'
export type { Standing } from './rank-contestants.ts'
export type { ToldJudgement } from './read-judgements.ts'
export type { RunDecision } from './run-decision.ts'
export type { JudgingProgress } from './read-progress.ts'
export type { Ranking, RunVerdict } from './read-ranking.ts'
export type { Agreement } from './measure-agreement.ts'
export type { GivenVote } from './read-votes.ts'
export { voterOf } from './voter.ts'
export type { Vote, VoteOrder } from './votes.ts'

/** Ranks lanes and models by the votes of users and of a judge, with confidence intervals. */
export interface Judging {
  vote(order: VoteOrder): Promise<Vote>
  /** Returns what this voter may see of a run. In a blind run, lanes are visible only for prompts that they have voted on. */
  viewRun(run: StoredRun, voter: Voter): Promise<BlindView>
  /** The same for several runs at once. */
  viewRuns(runs: readonly StoredRun[], voter: Voter): Promise<(run: StoredRun) => BlindView>
  /** Returns what the judge of a run said about the answers to some prompts. */
  readJudgements(runId: string, promptIndexes: readonly number[]): Promise<readonly ToldJudgement[]>
  /** Returns which lane of an ended run to take. */
  decideRun(place: Place, run: DecidedRun): Promise<RunDecision>
  /** Returns how far the judge of a run is. Null without a judge. */
  readProgress(run: ProgressedRun): Promise<JudgingProgress | null>
  /** Returns the votes of people on a run, newest first; of a blind one, those on prompts that this voter has voted on. */
  listVotes(run: StoredRun, voter: Voter, page: PageRequest): Promise<Page<GivenVote>>
  /** Returns the ranking of the lanes of one run by the votes that this voter may see. */
  readVerdict(place: Place, runId: string, voter: Voter): Promise<RunVerdict>
  /** Returns the ranking of models over the votes of the account; of one run or dataset, over those that this voter may see. */
  readLeaderboard(place: Place, filter: VoteFilter, voter: Voter): Promise<Ranking>
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
  const viewRuns: Judging['viewRuns'] = async (runs, voter) => {
    const blindIds = runs.filter(({ isBlind }) => isBlind).map(({ id }) => id)
    const revealedOf = await readRevealed(database, blindIds, voter)
    return (run) => createBlindView(run, revealedOf(run.id))
  }
  return {
    vote: (order) => castVote(database, order, clock.nowMs()),
    viewRun: async (run, voter) => (await viewRuns([run], voter))(run),
    viewRuns,
    listVotes: async ({ id, isBlind }, voter, page) => {
      const revealed = isBlind ? (await readRevealed(database, [id], voter))(id) : null
      const prompts = revealed === null || revealed.isAll ? null : [...revealed.prompts]
      return listVotes(database, { runId: id, voter, prompts }, page)
    },
    readJudgements: (runId, promptIndexes) => readJudgements(database, runId, promptIndexes),
    decideRun: (place, run) => decideRun(database, place, run),
    readProgress: (run) => readProgress(database, run),
    readVerdict: (place, runId, voter) => readRunVerdict(database, place, runId, voter),
    readLeaderboard: (place, filter, voter) =>
      readLeaderboard(database, place, { ...filter, voter }, modelIdOf),
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
