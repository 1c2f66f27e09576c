import { AppError } from '../../../kernel/app-error.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { ChatMessage } from '../../../wires/openai-chat/chat-request.ts'
import type { Batches } from '../../batches/batches.ts'
import type { Files } from '../../files/files.ts'
import type { Caller } from '../../keys/keys.ts'
import { cellBody } from '../cells/cell-body.ts'
import type { RunClaim } from '../cells/cell-writer.ts'
import type { Lane, Run } from '../runs/run.ts'
import { addRunBatch } from './run-batches.ts'

export interface LaneBatchParts {
  readonly database: Queryable
  readonly batches: Pick<Batches, 'create'>
  readonly files: Pick<Files, 'store' | 'delete'>
}

interface LaneBatchOrder {
  readonly run: Run
  readonly claim: RunClaim
  readonly lane: Lane
  readonly caller: Caller
  /** The most that an answer may cost. Null: no limit. */
  readonly lineNanoUsdMax: NanoUsd | null
}

/** What a cell asks. */
export const CELL_ENDPOINT = '/v1/chat/completions'
/** Longer than any batch runs, so that the answers are there when they are collected. */
const KEPT_SECONDS = 30 * 86_400
const CELLS_AT_ONCE = 100

/** Writes the cells of a lane that are to be asked into a file, and makes a batch of it. */
export async function createLaneBatch(
  { database, batches, files }: LaneBatchParts,
  { run, claim, lane, caller, lineNanoUsdMax }: LaneBatchOrder,
): Promise<void> {
  // The run belongs where its prompts come from, and so do its files.
  const owner: Caller = { ...caller, projectId: run.projectId }
  const file = await files.store({
    place: owner,
    keyId: caller.keyId,
    purpose: 'batch',
    filename: `compare_${run.id.replaceAll('-', '')}_lane_${lane.position + 1}.jsonl`,
    source: writeLines(database, run, lane),
    expiresAfterSeconds: KEPT_SECONDS,
  })
  try {
    await batches.create(owner, {
      wire: 'batches',
      inputFileId: file.id,
      endpoint: CELL_ENDPOINT,
      metadata: { compare_run_id: run.id, lane: lane.name },
      outputSeconds: KEPT_SECONDS,
      runsAsFar: true,
      webhookUrl: null,
      baseUrl: null,
      lineNanoUsdMax,
      onMade: (transaction, batchId) =>
        addRunBatch(transaction, claim, { batchId, lanePosition: lane.position }),
    })
  } catch (error) {
    await files.delete(owner, file.id).catch((failure: unknown) => {
      if (!(failure instanceof AppError)) throw failure
    })
    throw error
  }
}

interface WaitingRow {
  readonly prompt_index: number
  readonly repeat: number
  readonly messages: readonly ChatMessage[]
}

async function* writeLines(queryable: Queryable, run: Run, lane: Lane): AsyncGenerator<Buffer, void> {
  for (let after = [-1, -1]; ;) {
    const rows = await queryable.query<WaitingRow>(
      `SELECT prompt_index, repeat, messages FROM compare_cells JOIN compare_prompts USING (run_id, prompt_index)
       WHERE run_id = $1 AND lane_position = $2 AND status = 'pending' AND (prompt_index, repeat) > ($3, $4)
       ORDER BY prompt_index, repeat LIMIT $5`,
      [run.id, lane.position, ...after, CELLS_AT_ONCE],
    )
    for (const row of rows) yield Buffer.from(`${JSON.stringify(toLine(lane, row))}\n`)
    const last = rows.at(-1)
    if (last === undefined || rows.length < CELLS_AT_ONCE) return
    after = [last.prompt_index, last.repeat]
  }
}

function toLine(lane: Lane, { prompt_index: promptIndex, repeat, messages }: WaitingRow): object {
  return {
    custom_id: nameCell(promptIndex, repeat),
    method: 'POST',
    url: CELL_ENDPOINT,
    body: cellBody(lane, messages, repeat),
  }
}

/** The lines of a batch are of one lane. */
function nameCell(promptIndex: number, repeat: number): string {
  return `${promptIndex}.${repeat}`
}

/** Null for a name that no cell has. */
export function readCellName(customId: string): { promptIndex: number; repeat: number } | null {
  const match = /^(\d{1,7})\.(\d{1,3})$/.exec(customId)
  return match === null ? null : { promptIndex: Number(match[1]), repeat: Number(match[2]) }
}
