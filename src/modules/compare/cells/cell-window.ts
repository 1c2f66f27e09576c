import type { NanoUsd } from '../../../kernel/money.ts'
import type { ChatMessage } from '../../../wires/openai-chat/chat-request.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { CellKey } from './cell-writer.ts'

/** A cell to ask. */
export interface WaitingCell {
  readonly key: CellKey
  readonly prompt: WaitingPrompt
  /** Whether it was asked under this id before. The ledger has what was charged then. */
  readonly wasAsked: boolean
  /** The part of the charges under its id that its cost already includes. */
  readonly countedNanoUsd: NanoUsd
  readonly tries: number
  /** What its prompt costs alone, once it did not fit into what the cell might spend. */
  readonly leastNanoUsd?: NanoUsd
}

/** What a cell asks. */
export type CellQuestion = Pick<WaitingCell, 'key' | 'prompt'>

interface WaitingPrompt {
  readonly messages: readonly ChatMessage[]
  readonly expected: unknown
}

/** How many cells a slow lane may fall behind the others. */
const CELLS_MAX = 200
const REFILL_BELOW = 100

/** The next cells of a run, ordered by prompt and then by the turn of the lanes. */
export class CellWindow {
  readonly #queryable: Queryable
  readonly #runId: string
  #cells: WaitingCell[] = []
  #after: readonly number[] = [-1, -1, -1]
  #isExhausted = false

  constructor(queryable: Queryable, runId: string) {
    this.#queryable = queryable
    this.#runId = runId
  }

  get isEmpty(): boolean {
    return this.#isExhausted && this.#cells.length === 0
  }

  /** Returns the first cell whose lane may start another one. */
  take(hasRoom: (lanePosition: number) => boolean): WaitingCell | null {
    const index = this.#cells.findIndex(({ key }) => hasRoom(key.lanePosition))
    return index === -1 ? null : (this.#cells.splice(index, 1)[0] ?? null)
  }

  putBack(cell: WaitingCell): void {
    this.#cells.unshift(cell)
  }

  async fill(): Promise<void> {
    if (this.#isExhausted || this.#cells.length >= REFILL_BELOW) return
    const wanted = CELLS_MAX - this.#cells.length
    const rows = await this.#queryable.query<PendingRow>(NEXT, [this.#runId, ...this.#after, wanted])
    const prompts = await this.#readPrompts([...new Set(rows.map((row) => row.prompt_index))])
    for (const row of rows) {
      const prompt = prompts.get(row.prompt_index)
      if (prompt === undefined) throw new Error(`the prompt ${row.prompt_index} of a run is missing`)
      const key = { promptIndex: row.prompt_index, repeat: row.repeat, lanePosition: row.lane_position }
      const { was_asked: wasAsked, counted_nano_usd: countedNanoUsd, tries } = row
      this.#cells.push({ key, prompt, wasAsked, countedNanoUsd, tries })
    }
    const last = rows.at(-1)
    if (last !== undefined) this.#after = [last.prompt_index, last.repeat, last.turn]
    this.#isExhausted = rows.length < wanted
  }

  async #readPrompts(indexes: readonly number[]): Promise<ReadonlyMap<number, WaitingPrompt>> {
    const rows = await this.#queryable.query<PromptRow>(
      `SELECT prompt_index, messages, expected FROM compare_prompts WHERE run_id = $1 AND prompt_index = ANY ($2::int[])`,
      [this.#runId, indexes],
    )
    return new Map(rows.map(({ prompt_index: index, messages, expected }) => [index, { messages, expected }]))
  }
}

interface PendingRow {
  readonly prompt_index: number
  readonly repeat: number
  readonly lane_position: number
  readonly turn: number
  readonly was_asked: boolean
  readonly counted_nano_usd: bigint
  readonly tries: number
}

interface PromptRow {
  readonly prompt_index: number
  readonly messages: readonly ChatMessage[]
  readonly expected: unknown
}

const NEXT = `
  SELECT prompt_index, repeat, lane_position, turn, request_id IS NOT NULL AS was_asked, counted_nano_usd, tries
  FROM compare_cells
  WHERE run_id = $1 AND status = 'pending' AND (prompt_index, repeat, turn) > ($2, $3, $4)
  ORDER BY prompt_index, repeat, turn LIMIT $5`
