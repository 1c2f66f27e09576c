import { AppError } from '../../../kernel/app-error.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { createRequestId } from '../../../kernel/identifiers.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { ChatMessage } from '../../../wires/openai-chat/chat-request.ts'
import type { Batches, LineResult } from '../../batches/batches.ts'
import { interpretCharge } from '../../inference/inference.ts'
import { findCharges, type FoundCharge } from '../../ledger/ledger.ts'
import type { ToldCall } from '../cells/chat-call.ts'
import type { CellQuestion } from '../cells/cell-window.ts'
import type { CellEnd, CellKey, CellWriter, RunClaim } from '../cells/cell-writer.ts'
import { BUDGET_REACHED_CODE, CUT_OFF } from '../runs/budget-reached.ts'
import type { Lane, Run } from '../runs/run.ts'
import type { ScoredCell } from '../scores/cell-scores.ts'
import { scoreOutput } from '../scores/score-output.ts'
import { readCellName } from './lane-batch.ts'
import { readChatAnswer } from './read-chat-answer.ts'
import type { RunBatch } from './run-batches.ts'

type Batch = Awaited<ReturnType<Batches['read']>>

export interface CollectOptions {
  readonly database: Queryable
  readonly clock: Clock
  readonly batches: Pick<Batches, 'readResults'>
  readonly run: Run
  readonly claim: RunClaim
  readonly writer: Pick<CellWriter, 'end'>
  /** False if billing is off. */
  readonly isBilled: boolean
  /** Computes the scores of the run for an answer. */
  readonly score: (asked: CellQuestion, lane: Lane, answer: ToldCall) => Promise<ScoredCell>
  /** Whether the run was cancelled, or this process stops. */
  readonly isStopped: () => boolean
  /** Called for each cell that has ended. */
  readonly onEnd: (key: CellKey, status: CellEnd['status']) => void
}

/** Of the results that are in memory at once. */
const LINES_AT_ONCE = 50

/** Writes the results of an ended batch into the cells that its lines asked. May be repeated. Returns false if it was stopped before. */
export async function collectBatch(
  asked: RunBatch,
  batch: Batch | undefined,
  options: CollectOptions,
): Promise<boolean> {
  const collecting = new Collecting(asked, options)
  if (batch === undefined) return collecting.failRest(GONE)
  if (batch.status === 'failed') {
    const [first] = batch.errors ?? []
    return collecting.failRest(first ?? GONE)
  }
  let results: AsyncIterable<LineResult>
  try {
    results = await options.batches.readResults(options.run, batch)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error
    return collecting.failRest(GONE)
  }
  let some: LineResult[] = []
  for await (const result of results) {
    if (options.isStopped()) return false
    some.push(result)
    if (some.length < LINES_AT_ONCE) continue
    await collecting.take(some)
    some = []
  }
  await collecting.take(some)
  return collecting.failRest(GONE)
}

const GONE = { code: 'not_found', message: 'The results of the batch of this lane were deleted.' }

interface BegunRow {
  readonly prompt_index: number
  readonly repeat: number
  readonly counted_nano_usd: bigint
  readonly messages: readonly ChatMessage[]
  readonly expected: unknown
}

/** The results of one batch, some lines at a time. */
class Collecting {
  readonly #options: CollectOptions
  readonly #asked: RunBatch
  readonly #lane: Lane

  constructor(asked: RunBatch, options: CollectOptions) {
    const lane = options.run.lanes.find(({ position }) => position === asked.lanePosition)
    if (lane === undefined) throw new Error('a batch asks a lane that its run has not')
    this.#asked = asked
    this.#options = options
    this.#lane = lane
  }

  async take(results: readonly LineResult[]): Promise<void> {
    const wanted = results.flatMap((result) => {
      const cell = readCellName(result.customId)
      return cell === null || this.#isStillToAsk(result) ? [] : [{ ...cell, result }]
    })
    const rows = await this.#begin(wanted)
    const charges = await this.#findCharges(wanted.map(({ result }) => result))
    const begun = new Map(rows.map((row) => [`${row.prompt_index}.${row.repeat}`, row]))
    await Promise.all(
      wanted.map(async ({ result }) => {
        const row = begun.get(result.customId)
        if (row === undefined) return
        const charge = charges.get(result.response?.requestId ?? '') ?? null
        const end = await this.#endOf(row, result, charge)
        if (await this.#options.writer.end(end)) this.#options.onEnd(end.key, end.status)
      }),
    )
  }

  /** Cells that the batch did not ask end with this error. Those of a cancelled run are still to be asked. */
  async failRest({ code, message }: { readonly code: string; readonly message: string }): Promise<boolean> {
    const { database, run, writer } = this.#options
    const { isWithdrawn, lanePosition } = this.#asked
    if (isWithdrawn) return !this.#options.isStopped()
    while (!this.#options.isStopped()) {
      const rows = await database.query<{ prompt_index: number; repeat: number }>(
        `SELECT prompt_index, repeat FROM compare_cells WHERE run_id = $1 AND lane_position = $2 AND status = 'pending' LIMIT $3`,
        [run.id, lanePosition, LINES_AT_ONCE],
      )
      if (rows.length === 0) break
      const begun = await this.#begin(
        rows.map((row) => ({ promptIndex: row.prompt_index, repeat: row.repeat, result: null })),
      )
      for (const row of begun) {
        const end = { key: this.#keyOf(row), status: 'failed', chargedNanoUsd: 0n, code, message } as const
        if (await writer.end(end)) this.#options.onEnd(end.key, end.status)
      }
      // The run has another worker.
      if (begun.length === 0) return false
    }
    return !this.#options.isStopped()
  }

  #isStillToAsk({ error }: LineResult): boolean {
    return this.#asked.isWithdrawn && error?.code === 'batch_cancelled'
  }

  /** Takes the cells under the claim, with the ids of their requests, so that whoever takes over finds their charges. */
  #begin(
    cells: readonly { promptIndex: number; repeat: number; result: LineResult | null }[],
  ): Promise<BegunRow[]> {
    const { database, clock, run, claim } = this.#options
    const nowMs = clock.nowMs()
    return database.query<BegunRow>(BEGIN, [
      run.id,
      claim.number,
      this.#asked.lanePosition,
      this.#asked.batchId,
      cells.map(({ promptIndex }) => promptIndex),
      cells.map(({ repeat }) => repeat),
      cells.map(({ result }) => result?.response?.requestId ?? null),
      cells.map(() => createRequestId(nowMs)),
    ])
  }

  async #findCharges(results: readonly LineResult[]): Promise<ReadonlyMap<string, FoundCharge>> {
    const { database, run, isBilled } = this.#options
    if (!isBilled) return new Map()
    const ids = results.flatMap(({ response }) => (response === null ? [] : [response.requestId]))
    return findCharges(database, run.accountId, ids)
  }

  async #endOf(row: BegunRow, result: LineResult, charge: FoundCharge | null): Promise<CellEnd> {
    const { run, isBilled } = this.#options
    const key = this.#keyOf(row)
    const { response } = result
    const told = readChatAnswer(response?.body)
    const chargedNanoUsd = isBilled
      ? interpretCharge(charge, row.counted_nano_usd).added
      : told.costNanoUsd - row.counted_nano_usd
    if (response?.status !== 200)
      return { key, status: 'failed', chargedNanoUsd, ...failureOf(result, this.#isLimited) }
    const answer = { ...told, costNanoUsd: costOf(charge) ?? told.costNanoUsd }
    if (this.#isCutOff(answer)) return { key, status: 'failed', chargedNanoUsd, ...CUT_OFF }
    const score = await scoreOutput(row.expected, answer.output, run.accountId)
    const scored = await this.#options.score({ key, prompt: row }, this.#lane, answer)
    return {
      key,
      status: 'completed',
      chargedNanoUsd,
      answer,
      score: score ?? scored.quality,
      scores: scored.scores,
    }
  }

  get #isLimited(): boolean {
    return this.#options.run.budgetNanoUsd !== null
  }

  /** The share of the budget ended the answer, and not a limit of the lane. */
  #isCutOff({ finishReason, usage }: ToldCall): boolean {
    if (!this.#isLimited || finishReason !== 'length' || usage === null) return false
    const { max_completion_tokens: most, max_tokens: limit = Infinity } = this.#lane.params
    return usage.completionTokens < Number(most ?? limit)
  }

  #keyOf({ prompt_index: promptIndex, repeat }: Pick<BegunRow, 'prompt_index' | 'repeat'>): CellKey {
    return { promptIndex, repeat, lanePosition: this.#asked.lanePosition }
  }
}

function costOf(charge: FoundCharge | null): NanoUsd | null {
  return charge?.costNanoUsd ?? null
}

/** @param isLimited whether no answer may cost more than its share of the budget */
function failureOf(
  { response, error }: LineResult,
  isLimited: boolean,
): { readonly code: string; readonly message: string } {
  if (error !== null) return error
  const body = isRecord(response?.body) ? response.body['error'] : null
  const { code, message } = isRecord(body) ? body : {}
  if (isLimited && code === 'budget_exceeded')
    return {
      code: BUDGET_REACHED_CODE,
      message: 'The share of the budget that each answer has does not cover this prompt.',
    }
  return {
    code: typeof code === 'string' ? code : 'internal_error',
    message: typeof message === 'string' ? message : 'The line of the batch has no answer.',
  }
}

// A cell that this worker has begun before, when the reply of the database was lost, is begun again.
const BEGIN = `
  UPDATE compare_cells AS cell SET status = 'running', claim = $2, started_at = coalesce(started_at, now()),
    counted_nano_usd = CASE WHEN given.request_id IS NULL OR cell.request_id = given.request_id THEN cell.counted_nano_usd ELSE 0 END,
    request_id = coalesce(given.request_id, cell.request_id, fresh_id),
    batch_id = CASE WHEN given.request_id IS NULL THEN cell.batch_id ELSE $4 END
  FROM unnest($5::int[], $6::int[], $7::text[], $8::text[]) AS given (prompt_index, repeat, request_id, fresh_id), compare_prompts AS prompt
  WHERE cell.run_id = $1 AND cell.lane_position = $3 AND cell.prompt_index = given.prompt_index AND cell.repeat = given.repeat
    AND prompt.run_id = cell.run_id AND prompt.prompt_index = cell.prompt_index
    AND (cell.status = 'pending' OR (cell.status = 'running' AND cell.claim = $2))
    AND EXISTS (SELECT FROM compare_runs WHERE id = $1 AND claim = $2 AND worker_id IS NOT NULL)
  RETURNING cell.prompt_index, cell.repeat, cell.counted_nano_usd, prompt.messages, prompt.expected`
