import { invalidValue, notFound } from '../../kernel/app-error.ts'
import { createId, isUuid } from '../../kernel/identifiers.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { idsOf, isWithin, type Place } from '../../storage/place.ts'
import { ALIAS_KEY, findLane } from './blind-lanes.ts'
import { VOTER_ID, voterIdOf, VOTES, type Voter } from './voter.ts'

export type VoteOutcome = 'winner' | 'tie' | 'both_bad'
export type VoteSource = 'human' | 'judge'

/** A vote on a run, on one of its prompts, or on one repeat of a prompt. */
export interface VoteOrder {
  readonly place: Place
  readonly voter: Voter
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
  readonly alias_key: string
  readonly prompts_total: number
  readonly repeats: number
}

/** Replaces the previous vote of the same voter on the same question. */
export function castVote(database: Database, order: VoteOrder, nowMs: number): Promise<Vote> {
  const { place, runId, promptIndex, repeat, outcome } = order
  if (!isUuid(runId)) throw notFound('run')
  return database.transaction(async (transaction) => {
    const [run] = await transaction.query<RunRow>(
      `SELECT is_blind, ${ALIAS_KEY} AS alias_key, prompts_total, repeats FROM compare_runs WHERE id = $1 AND ${isWithin(place, '$2')} FOR UPDATE`,
      [runId, idsOf(place)],
    )
    if (run === undefined) throw notFound('run')
    const lanes = await transaction.query<{ id: string }>('SELECT id FROM compare_lanes WHERE run_id = $1', [
      runId,
    ])
    const blind = { isBlind: run.is_blind, aliasKey: run.alias_key, lanes }
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
    await writeVote(transaction, place.accountId, order.voter, vote)
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
  voter: Voter,
  vote: Vote,
): Promise<void> {
  const { runId, promptIndex, repeat, laneIds, winnerLaneId, source } = vote
  // More than one if an earlier release took votes with several keys of one person.
  const before = await transaction.query<{ winner_lane_id: string | null }>(
    `DELETE FROM compare_votes WHERE id IN (${OF_THE_QUESTION}) RETURNING winner_lane_id`,
    [runId, source, voter.keyId, voterIdOf(voter), promptIndex ?? -1, repeat ?? -1, laneIds],
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
      voter.keyId,
      vote.reason,
      vote.createdAt,
    ],
  )
  if (promptIndex === null) return
  await transaction.query(
    `UPDATE compare_lanes SET wins = wins + (id IS NOT DISTINCT FROM $2)::int - cardinality(array_positions($3::uuid[], id))
     WHERE run_id = $1 AND (id = $2 OR id = ANY ($3::uuid[]))`,
    [runId, winnerLaneId, before.flatMap(({ winner_lane_id: laneId }) => laneId ?? [])],
  )
}

// A judge votes once for the key of the run, and a person once with all keys.
const OF_THE_QUESTION = `
  SELECT vote.id FROM ${VOTES}
  WHERE run_id = $1 AND source = $2 AND (voter_id = $3 OR source = 'human' AND ${VOTER_ID} = $4)
    AND coalesce(prompt_index, -1) = $5 AND coalesce(repeat, -1) = $6 AND lane_ids = $7::uuid[]`
