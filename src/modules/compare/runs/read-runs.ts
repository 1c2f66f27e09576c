import { notFound } from '../../../kernel/app-error.ts'
import { isUuid } from '../../../kernel/identifiers.ts'
import { ID_AFTER_ALL, type Page, type PageRequest } from '../../../kernel/page.ts'
import type { Queryable } from '../../../storage/database.ts'
import { idsOf, isWithin, type Place } from '../../../storage/place.ts'
import type { Reader } from '../../keys/keys.ts'
import { LANE_COLUMNS, laneFromRow, RUN_COLUMNS, runFromRow, type LaneRow, type RunRow } from './run-row.ts'
import type { Run, RunStatus } from './run.ts'

/** A run of another account or project gives the same error as one that does not exist. */
export async function readRun(queryable: Queryable, place: Place, runId: string): Promise<Run> {
  if (!isUuid(runId)) throw notFound('run')
  const [row] = await queryable.query<RunRow>(
    `SELECT ${RUN_COLUMNS} FROM compare_runs WHERE id = $1 AND ${isWithin(place, '$2')}`,
    [runId, idsOf(place)],
  )
  if (row === undefined) throw notFound('run')
  const [run] = await addLanes(queryable, [row])
  if (run === undefined) throw notFound('run')
  return run
}

export interface RunFilter {
  readonly status?: RunStatus | undefined
  readonly datasetId?: string | undefined
  /** Part of the name of the run or of one of its models, in any case. */
  readonly search?: string | undefined
}

const filterOf = (
  place: Place,
): string => `${isWithin(place, '$1')} AND ($2::text IS NULL OR status = $2) AND ($3::uuid IS NULL OR dataset_id = $3)
  AND ($4::uuid IS NULL OR key_id = $4) AND ($5::text IS NULL OR strpos(lower(name), lower($5)) > 0
  OR EXISTS (SELECT FROM unnest(models) AS asked (model) WHERE strpos(lower(asked.model), lower($5)) > 0))`

/** Newest first. */
export async function listRuns(
  queryable: Queryable,
  reader: Reader,
  { status, datasetId, search }: RunFilter,
  { limit, afterId }: PageRequest,
): Promise<Page<Run>> {
  const filter = [idsOf(reader), status ?? null, datasetId ?? null, reader.ownKeyId, search ?? null]
  const matches = filterOf(reader)
  const [rows, [count]] = await Promise.all([
    queryable.query<RunRow>(
      `SELECT ${RUN_COLUMNS} FROM compare_runs WHERE ${matches} AND id < $6 ORDER BY id DESC LIMIT $7`,
      [...filter, afterId ?? ID_AFTER_ALL, limit + 1],
    ),
    queryable.query<{ total: bigint }>(`SELECT count(*) AS total FROM compare_runs WHERE ${matches}`, filter),
  ])
  return {
    items: await addLanes(queryable, rows.slice(0, limit)),
    total: Number(count?.total ?? 0),
    hasMore: rows.length > limit,
  }
}

async function addLanes(queryable: Queryable, rows: readonly RunRow[]): Promise<Run[]> {
  if (rows.length === 0) return []
  const lanes = await queryable.query<LaneRow>(
    `SELECT ${LANE_COLUMNS} FROM compare_lanes WHERE run_id = ANY ($1::uuid[]) ORDER BY position`,
    [rows.map(({ id }) => id)],
  )
  const byRun = Map.groupBy(lanes, ({ run_id: runId }) => runId)
  return rows.map((row) => runFromRow(row, (byRun.get(row.id) ?? []).map(laneFromRow)))
}
