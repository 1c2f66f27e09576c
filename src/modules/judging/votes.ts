import { invalidValue, notFound } from '../../kernel/app-error.ts'
import { createId, isUuid } from '../../kernel/identifiers.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { idsOf, isWithin, type Place } from '../../storage/place.ts'
import { findLane, type Revealed } from './blind-lanes.ts'

type VoteOutcome = 'winner' | 'tie' | 'both_bad'
type VoteSource = 'human' | 'judge'

/** A vote on a run, on one of its prompts, or on one repeat of a prompt. */
export interface VoteOrder {
  readonly place: Place
  /** The id of the voting key. */
  readonly voterId: string
  readonly runId: string
  readonly laneId: string
  readonly promptIndex: number | null
  readonly repeat: number | null
  readonly outcome: VoteOutcome
  readonly reason: string | null
}

export interface Vote {
  readonly id: string
  readonly runId: string
  readonly promptIndex: number | null
  readonly repeat: number | null
  readonly laneIds: readonly string[]
  readonly outcome: VoteOutcome
  readonly winnerLaneId: string | null
  readonly source: VoteSource
  readonly reason: string | null
  readonly createdAt: Date
}

interface RunRow {
  readonly is_blind: boolean
  readonly seed: bigint
  readonly prompts_total: number
  readonly repeats: number
}

/** Replaces the previous vote of the same voter on the same question. */
export function castVote(database: Database, order: VoteOrder, nowMs: number): Promise<Vote> {
  const { place, runId, promptIndex, repeat, outcome } = order
  if (!isUuid(runId)) throw notFound('run')
  return database.transaction(async (transaction) => {
    const [run] = await transaction.query<RunRow>(
      `SELECT is_blind, seed, prompts_total, repeats FROM compare_runs WHERE id = $1 AND ${isWithin(place, '$2')} FOR UPDATE`,
      [runId, idsOf(place)],
    )
    if (run === undefined) throw notFound('run')
    const lanes = await transaction.query<{ id: string }>('SELECT id FROM compare_lanes WHERE run_id = $1', [
      runId,
    ])
    const blind = { isBlind: run.is_blind, seed: Number(run.seed), lanes }
    const laneId = findLane(blind, promptIndex, order.laneId)
    if (laneId === null) throw notFound('lane')
    if (promptIndex !== null && promptIndex >= run.prompts_total)
      throw invalidValue(
        'prompt_index',
        `This run has ${run.prompts_total} prompts; the first has the index 0.`,
      )
    if (repeat !== null && (promptIndex === null || repeat >= run.repeats))
      throw invalidValue('repeat', 'This run has no such repeat of a prompt.')
    const vote: Vote = {
      id: createId(nowMs),
      runId,
      promptIndex,
      repeat,
      laneIds: lanes.map(({ id }) => id).toSorted(),
      outcome,
      winnerLaneId: outcome === 'winner' ? laneId : null,
      source: 'human',
      reason: order.reason,
      createdAt: new Date(nowMs),
    }
    await writeVote(transaction, place.accountId, order.voterId, vote)
    if (promptIndex === null)
      await transaction.query(
        'UPDATE compare_runs SET winner_lane_id = $2, updated_at = now() WHERE id = $1',
        [runId, vote.winnerLaneId],
      )
    return vote
  })
}

/** Also updates the wins of the lanes. The caller must hold the lock on the run. */
export async function writeVote(
  transaction: Queryable,
  accountId: string,
  voterId: string,
  vote: Vote,
): Promise<void> {
  const { runId, promptIndex, repeat, laneIds, winnerLaneId, source } = vote
  const question = [runId, source, voterId, promptIndex ?? -1, repeat ?? -1, laneIds]
  const [before] = await transaction.query<{ winner_lane_id: string | null }>(
    `DELETE FROM compare_votes WHERE ${IS_THE_QUESTION} RETURNING winner_lane_id`,
    question,
  )
  await transaction.query(
    `INSERT INTO compare_votes (id, account_id, run_id, prompt_index, repeat, lane_ids, outcome, winner_lane_id, source,
       voter_id, reason, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      vote.id,
      accountId,
      runId,
      promptIndex,
      repeat,
      laneIds,
      vote.outcome,
      winnerLaneId,
      source,
      voterId,
      vote.reason,
      vote.createdAt,
    ],
  )
  if (promptIndex === null) return
  await transaction.query(
    `UPDATE compare_lanes SET wins = wins + (id IS NOT DISTINCT FROM $2)::int - (id IS NOT DISTINCT FROM $3)::int
     WHERE run_id = $1 AND (id = $2 OR id = $3)`,
    [runId, winnerLaneId, before?.winner_lane_id ?? null],
  )
}

const IS_THE_QUESTION = `run_id = $1 AND source = $2 AND voter_id = $3 AND coalesce(prompt_index, -1) = $4
  AND coalesce(repeat, -1) = $5 AND lane_ids = $6::uuid[]`

/** Reads which prompts of blind runs this voter has voted on. A vote on the whole run reveals all prompts. */
export async function readRevealed(
  queryable: Queryable,
  runIds: readonly string[],
  voterId: string,
): Promise<(runId: string) => Revealed> {
  if (runIds.length === 0) return () => NOTHING_REVEALED
  const rows = await queryable.query<{ run_id: string; prompt_index: number | null }>(
    `SELECT DISTINCT run_id, prompt_index FROM compare_votes
     WHERE run_id = ANY ($1::uuid[]) AND source = 'human' AND voter_id = $2`,
    [runIds, voterId],
  )
  const ofRuns = Map.groupBy(rows, ({ run_id: runId }) => runId)
  return (runId) => {
    const indexes = (ofRuns.get(runId) ?? []).map(({ prompt_index: index }) => index)
    return { isAll: indexes.includes(null), prompts: new Set(indexes.filter((index) => index !== null)) }
  }
}

const NOTHING_REVEALED: Revealed = { isAll: false, prompts: new Set() }

/** Selects votes. Null members select all. */
export interface VoteFilter {
  readonly runId: string | null
  readonly datasetId: string | null
  readonly since: Date | null
  readonly source: VoteSource | null
}

/** The number of newest votes that are read: enough for narrow intervals, few enough to count within a request. */
const VOTES_MAX = 20_000

export interface CountedVote {
  readonly run_id: string
  readonly prompt_index: number | null
  readonly lane_ids: readonly string[]
  readonly outcome: VoteOutcome
  readonly winner_lane_id: string | null
  readonly source: VoteSource
}

export function readVotes(
  queryable: Queryable,
  place: Place,
  { runId, datasetId, since, source }: VoteFilter,
): Promise<CountedVote[]> {
  return queryable.query<CountedVote>(
    `SELECT vote.run_id, prompt_index, lane_ids, outcome, vote.winner_lane_id, source
     FROM compare_votes AS vote JOIN compare_runs AS run ON run.id = vote.run_id
     WHERE ${place.projectId === null ? 'vote.account_id = $1' : isWithin(place, '$1', 'run')}
       AND ($2::uuid IS NULL OR vote.run_id = $2) AND ($3::uuid IS NULL OR dataset_id = $3)
       AND ($4::timestamptz IS NULL OR vote.created_at >= $4) AND ($5::text IS NULL OR source = $5)
     ORDER BY vote.id DESC LIMIT $6`,
    [idsOf(place), runId, datasetId, since, source, VOTES_MAX],
  )
}
