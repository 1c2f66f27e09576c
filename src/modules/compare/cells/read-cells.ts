import { invalidValue } from '../../../kernel/app-error.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { PromptCase } from '../prompt-case.ts'
import type { CellScores } from '../scores/cell-scores.ts'
import type { Cell, CellStatus, CellUsage, Run } from '../runs/run.ts'

/** Filters for the cells of a run. */
export interface CellFilter {
  readonly laneId?: string | undefined
  readonly promptIndex?: number | undefined
  readonly status?: CellStatus | undefined
}

export interface CellPage {
  readonly items: readonly Cell[]
  readonly total: number
  readonly hasMore: boolean
  readonly nextCursor: string | null
}

export interface CellPageRequest {
  readonly limit: number
  readonly after: string | null
  /** Limit for all outputs of a page together. A page has at least one cell. */
  readonly charactersMax?: number
}

/** In the order of prompts, repeats and lanes. */
export async function listCells(
  queryable: Queryable,
  run: Run,
  filter: CellFilter,
  page: CellPageRequest,
): Promise<CellPage> {
  const values = filterValues(run, filter)
  const after = page.after === null ? BEFORE_ALL : parseCursor(page.after)
  const rows = await queryable.query<CellRow>(
    `SELECT ${CELL_COLUMNS} FROM compare_cells WHERE ${FILTER}
       AND (prompt_index, repeat, ${orderOf(run)}) > ($5, $6, $7)
     ORDER BY prompt_index, repeat, ${orderOf(run)} LIMIT $8`,
    [...values, ...after, page.limit + 1],
  )
  const items = cutPage(rows.slice(0, page.limit).map(cellFromRow), page.charactersMax ?? Infinity)
  const last = items.at(-1)
  const hasMore = rows.length > items.length
  return {
    items,
    total: await countCells(queryable, run, filter),
    hasMore,
    nextCursor: hasMore && last !== undefined ? cursorOf(run, last) : null,
  }
}

function cutPage(cells: readonly Cell[], charactersMax: number): readonly Cell[] {
  let characters = 0
  const over = cells.findIndex(({ output, reasoning }) => {
    characters += (output?.length ?? 0) + (reasoning?.length ?? 0)
    return characters > charactersMax
  })
  return over === -1 ? cells : cells.slice(0, Math.max(1, over))
}

/** A cell and what it was asked. */
export interface AskedCell {
  readonly cell: Cell
  readonly prompt: AskedPrompt
}

interface AskedPrompt extends PromptCase {
  /** Positions of lanes in the order they were asked; each repeat begins one further. */
  readonly laneOrder: readonly number[]
}

const CELLS_AT_ONCE = 200

/** All of them, a part at a time. */
export async function* streamCells(
  queryable: Queryable,
  run: Run,
): AsyncGenerator<readonly AskedCell[], void> {
  for (let after: readonly number[] = BEFORE_ALL; ;) {
    const rows = await queryable.query<CellRow>(
      `SELECT ${CELL_COLUMNS} FROM compare_cells
       WHERE run_id = $1 AND (prompt_index, repeat, ${orderOf(run)}) > ($2, $3, $4)
       ORDER BY prompt_index, repeat, ${orderOf(run)} LIMIT $5`,
      [run.id, ...after, CELLS_AT_ONCE],
    )
    const cells = rows.map(cellFromRow)
    if (cells.length > 0) yield await addPrompts(queryable, run, cells)
    const last = cells.at(-1)
    if (last === undefined || cells.length < CELLS_AT_ONCE) return
    after = placeOf(run, last)
  }
}

async function addPrompts(queryable: Queryable, run: Run, cells: readonly Cell[]): Promise<AskedCell[]> {
  const rows = await queryable.query<PromptRow>(
    `SELECT prompt_index, external_id, messages, expected, lane_order FROM compare_prompts
     WHERE run_id = $1 AND prompt_index BETWEEN $2 AND $3`,
    [run.id, cells[0]?.promptIndex, cells.at(-1)?.promptIndex],
  )
  const prompts = new Map(
    rows.map(({ prompt_index: index, external_id: id, messages, expected, lane_order: laneOrder }) => [
      index,
      { id, messages, expected, laneOrder },
    ]),
  )
  return cells.flatMap((cell) => {
    const prompt = prompts.get(cell.promptIndex)
    return prompt === undefined ? [] : [{ cell, prompt }]
  })
}

interface PromptRow {
  readonly prompt_index: number
  readonly external_id: string | null
  readonly messages: PromptCase['messages']
  readonly expected: unknown
  readonly lane_order: readonly number[]
}

/** Computes the count from the size of the run where possible, without a query. */
async function countCells(queryable: Queryable, run: Run, filter: CellFilter): Promise<number> {
  const { status, laneId, promptIndex } = filter
  if (status === undefined) {
    const prompts = promptIndex === undefined ? run.promptsTotal : Number(promptIndex < run.promptsTotal)
    const lanes = laneId === undefined ? run.lanes.length : run.lanes.filter(({ id }) => id === laneId).length
    return prompts * lanes * run.repeats
  }
  const [row] = await queryable.query<{ total: bigint }>(
    `SELECT count(*) AS total FROM compare_cells WHERE ${FILTER}`,
    filterValues(run, filter),
  )
  return Number(row?.total ?? 0)
}

const FILTER = `run_id = $1 AND ($2::uuid IS NULL OR lane_id = $2) AND ($3::integer IS NULL OR prompt_index = $3)
  AND ($4::text IS NULL OR status = $4)`

function filterValues(run: Run, { laneId, promptIndex, status }: CellFilter): unknown[] {
  return [run.id, laneId ?? null, promptIndex ?? null, status ?? null]
}

const BEFORE_ALL: readonly number[] = [-1, -1, -1]
const CURSOR = /^(\d{1,9})\.(\d{1,4})\.(\d{1,4})$/

/** In a blind run, cells are listed in the order they were asked, because the lane positions would reveal the models. */
function orderOf({ isBlind }: Run): 'turn' | 'lane_position' {
  return isBlind ? 'turn' : 'lane_position'
}

function placeOf({ isBlind }: Run, { promptIndex, repeat, lanePosition, turn }: Cell): readonly number[] {
  return [promptIndex, repeat, isBlind ? turn : lanePosition]
}

function cursorOf(run: Run, cell: Cell): string {
  return placeOf(run, cell).join('.')
}

function parseCursor(text: string): readonly number[] {
  const match = CURSOR.exec(text)
  if (match === null)
    throw invalidValue('after', 'after must be a cursor from the next_cursor of an earlier page.')
  return match.slice(1).map(Number)
}

interface CellRow {
  readonly run_id: string
  readonly prompt_index: number
  readonly repeat: number
  readonly lane_position: number
  readonly lane_id: string
  readonly turn: number
  readonly status: CellStatus
  readonly request_id: string | null
  readonly cost_nano_usd: bigint
  readonly output: string | null
  readonly reasoning: string | null
  readonly tool_calls: unknown
  readonly finish_reason: string | null
  readonly usage: CellUsage | null
  readonly latency_ms: number | null
  readonly ttft_ms: number | null
  readonly model: string | null
  readonly provider: string | null
  readonly error_code: string | null
  readonly error_message: string | null
  readonly score: number | null
  readonly scores: CellScores | null
  readonly judge: unknown
  readonly started_at: Date | null
  readonly completed_at: Date | null
}

const CELL_COLUMNS = `run_id, prompt_index, repeat, lane_position, lane_id, turn, status, request_id, cost_nano_usd, output,
  reasoning, tool_calls, finish_reason, usage, latency_ms, ttft_ms, model, provider, error_code, error_message, score, scores, judge,
  started_at, completed_at`

function cellFromRow(row: CellRow): Cell {
  return {
    runId: row.run_id,
    promptIndex: row.prompt_index,
    repeat: row.repeat,
    lanePosition: row.lane_position,
    laneId: row.lane_id,
    turn: row.turn,
    status: row.status,
    requestId: row.request_id,
    costNanoUsd: row.cost_nano_usd,
    output: row.output,
    reasoning: row.reasoning,
    toolCalls: row.tool_calls,
    finishReason: row.finish_reason,
    usage: row.usage,
    latencyMs: row.latency_ms,
    ttftMs: row.ttft_ms,
    model: row.model,
    provider: row.provider,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    score: row.score,
    scores: row.scores,
    judge: row.judge,
    startedAt: row.started_at,
    completedAt: row.completed_at,
  }
}
