import { setImmediate as nextTurn } from 'node:timers/promises'
import { invalidValue, notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'
import { idsOf, isWithin, type Place } from '../../storage/place.ts'
import { bootstrapInterval, meanOf, type Interval } from './bootstrap-interval.ts'

/** The differences between two runs with prompts in common, compared prompt by prompt. */
export interface RunDiff {
  readonly runId: string
  readonly againstRunId: string
  /** Null unless both runs are of it. */
  readonly datasetId: string | null
  /** Null if the runs used different datasets or versions. Then prompts with equal messages are compared. */
  readonly datasetVersion: string | null
  readonly lanes: readonly LaneDiff[]
  /** Lanes that exist in only one of the runs. */
  readonly unmatched: readonly DiffLane[]
}

export interface DiffLane {
  readonly runId: string
  readonly laneId: string
  readonly model: string
  readonly name: string
}

interface LaneDiff {
  readonly lane: DiffLane
  readonly against: DiffLane
  /** The number of prompts that both lanes answered. */
  readonly prompts: number
  readonly measures: Readonly<Record<Measure, MeasureDiff | null>>
}

type Measure = 'score' | 'latency_ms' | 'ttft_ms' | 'cost_nano_usd' | 'completion_tokens'

/** Which direction is an improvement. Null for completion tokens: an answer is not better for being longer or shorter. */
const BETTER: Readonly<Record<Measure, 'more' | 'less' | null>> = {
  score: 'more',
  latency_ms: 'less',
  ttft_ms: 'less',
  cost_nano_usd: 'less',
  completion_tokens: null,
}

/**
 * The difference of the means over prompts. Values of the same prompt are paired, so that the spread between prompts does not
 * hide a difference.
 */
export interface MeasureDiff {
  readonly prompts: number
  readonly mean: number
  readonly againstMean: number
  readonly difference: number
  readonly interval: Interval | null
  readonly verdict: 'better' | 'worse' | 'more' | 'less' | 'no_significant_difference' | 'not_enough_prompts'
}

const PROMPTS_MIN = 6

interface RunRow {
  readonly id: string
  readonly dataset_id: string | null
  readonly dataset_version: string | null
  readonly seed: bigint
}

type PromptRow = { readonly lane_id: string; readonly prompt: string } & Readonly<
  Record<Measure, number | null>
>

export async function diffRuns(
  queryable: Queryable,
  place: Place,
  { runId, againstRunId }: { runId: string; againstRunId: string },
): Promise<RunDiff> {
  if (!isUuid(runId)) throw notFound('run')
  const runs = await queryable.query<RunRow>(
    `SELECT id, dataset_id, dataset_version, seed FROM compare_runs WHERE ${isWithin(place, '$1')} AND id = ANY ($2::uuid[])`,
    [idsOf(place), [runId, againstRunId].filter(isUuid)],
  )
  const run = runs.find(({ id }) => id === runId.toLowerCase())
  const against = runs.find(({ id }) => id === againstRunId.toLowerCase())
  if (run === undefined) throw notFound('run')
  if (against === undefined) throw invalidValue('against', 'There is no such run to compare with.')
  if (run.id === against.id) throw invalidValue('against', 'A run is compared with another one.')
  const isSameDataset = run.dataset_id !== null && run.dataset_id === against.dataset_id
  const isSameVersion = isSameDataset && run.dataset_version === against.dataset_version
  const [own, others] = await Promise.all(
    [run, against].map(async ({ id }) => ({
      lanes: await readLanes(queryable, id),
      rows: await queryable.query<PromptRow>(isSameVersion ? BY_INDEX : BY_MESSAGES, [id]),
    })),
  )
  if (own === undefined || others === undefined) throw new Error('one of two runs was not read')
  const known = new Set(others.rows.map(({ prompt }) => prompt))
  if (!isSameDataset && !own.rows.some(({ prompt }) => known.has(prompt)))
    throw invalidValue('against', 'These runs have no answered prompt in common.')
  const { pairs, unmatched } = matchLanes(own.lanes, others.lanes)
  const lanes: LaneDiff[] = []
  for (const [lane, other] of pairs)
    lanes.push(await diffLanes(lane, other, own.rows, others.rows, Number(run.seed)))
  return {
    runId: run.id,
    againstRunId: against.id,
    datasetId: isSameDataset ? run.dataset_id : null,
    datasetVersion: isSameVersion ? run.dataset_version : null,
    lanes,
    unmatched,
  }
}

function readLanes(queryable: Queryable, runId: string): Promise<DiffLane[]> {
  return queryable.query<{ runId: string; laneId: string; model: string; name: string }>(
    `SELECT run_id AS "runId", id AS "laneId", model, name FROM compare_lanes WHERE run_id = $1 ORDER BY position`,
    [runId],
  )
}

// A prompt's value is the mean over its repeats.
const MEANS = `avg(score)::float8 AS score, avg(latency_ms)::float8 AS latency_ms, avg(ttft_ms)::float8 AS ttft_ms,
  avg(cost_nano_usd)::float8 AS cost_nano_usd, avg((usage ->> 'completionTokens')::float8) AS completion_tokens`

const BY_INDEX = `
  SELECT lane_id, prompt_index::text AS prompt, ${MEANS} FROM compare_cells
  WHERE run_id = $1 AND status = 'completed' GROUP BY lane_id, prompt_index`

const BY_MESSAGES = `
  SELECT lane_id, md5(messages::text) AS prompt, ${MEANS} FROM compare_cells JOIN compare_prompts USING (run_id, prompt_index)
  WHERE run_id = $1 AND status = 'completed' GROUP BY lane_id, md5(messages::text)`

/** Matches lanes by model and name first, then by model only. Each lane is matched at most once. */
function matchLanes(own: readonly DiffLane[], others: readonly DiffLane[]) {
  const left = [...others]
  const unmatched: DiffLane[] = []
  const pairs: [DiffLane, DiffLane][] = []
  const isSame: ((one: DiffLane, other: DiffLane) => boolean)[] = [
    (one, other) => one.model === other.model && one.name === other.name,
    (one, other) => one.model === other.model,
  ]
  let waiting = [...own]
  for (const isMatch of isSame) {
    const still: DiffLane[] = []
    for (const lane of waiting) {
      const index = left.findIndex((other) => isMatch(lane, other))
      const [found] = index === -1 ? [] : left.splice(index, 1)
      if (found === undefined) still.push(lane)
      else pairs.push([lane, found])
    }
    waiting = still
  }
  unmatched.push(...waiting, ...left)
  return { pairs, unmatched }
}

async function diffLanes(
  lane: DiffLane,
  against: DiffLane,
  own: readonly PromptRow[],
  others: readonly PromptRow[],
  seed: number,
): Promise<LaneDiff> {
  const earlierRows = new Map(
    others.filter((row) => row.lane_id === against.laneId).map((row) => [row.prompt, row]),
  )
  const shared = own
    .filter((row) => row.lane_id === lane.laneId)
    .flatMap((row) => {
      const other = earlierRows.get(row.prompt)
      return other === undefined ? [] : [{ now: row, earlier: other }]
    })
    .toSorted((one, other) => (one.now.prompt < other.now.prompt ? -1 : 1))
  const measure = async (name: Measure): Promise<MeasureDiff | null> => {
    // Computing an interval takes tens of milliseconds, so yield to the event loop before each.
    await nextTurn()
    const both = shared.flatMap(({ now, earlier }) => {
      const [value, before] = [now[name], earlier[name]]
      return value === null || before === null ? [] : [{ value, earlier: before }]
    })
    return both.length === 0 ? null : diffMeasure(name, both, seed)
  }
  const measures = {
    score: await measure('score'),
    latency_ms: await measure('latency_ms'),
    ttft_ms: await measure('ttft_ms'),
    cost_nano_usd: await measure('cost_nano_usd'),
    completion_tokens: await measure('completion_tokens'),
  }
  return { lane, against, prompts: shared.length, measures }
}

function diffMeasure(
  name: Measure,
  both: readonly { readonly value: number; readonly earlier: number }[],
  seed: number,
): MeasureDiff {
  const differences = both.map(({ value, earlier }) => value - earlier)
  const interval = bootstrapInterval(differences, { seed })
  return {
    prompts: both.length,
    mean: meanOf(both.map(({ value }) => value)),
    againstMean: meanOf(both.map(({ earlier }) => earlier)),
    difference: meanOf(differences),
    interval,
    verdict: decide(name, both.length, interval),
  }
}

function decide(name: Measure, prompts: number, interval: Interval | null): MeasureDiff['verdict'] {
  if (interval === null || prompts < PROMPTS_MIN) return 'not_enough_prompts'
  if (interval.low <= 0 && interval.high >= 0) return 'no_significant_difference'
  const direction = interval.low > 0 ? 'more' : 'less'
  if (BETTER[name] === null) return direction
  return BETTER[name] === direction ? 'better' : 'worse'
}
