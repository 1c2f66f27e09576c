import type { Queryable } from '../../../storage/database.ts'
import type { Cell, Run } from '../runs/run.ts'

/** The beginning of a prompt, to show beside its answers. */
export interface PromptExcerpt {
  readonly promptIndex: number
  /** The client's own id. */
  readonly id: string | null
  /** The text of the last message of the user. */
  readonly text: string
  readonly isCut: boolean
}

/** In characters. An export has the whole prompts. */
export const EXCERPT_LENGTH_MAX = 2_000

/** Returns the beginning of each prompt that these cells answer. The database cuts them, because a prompt may be very long. */
export async function readPrompts(
  queryable: Queryable,
  run: Run,
  cells: readonly Cell[],
): Promise<PromptExcerpt[]> {
  const indexes = new Set(cells.map(({ promptIndex }) => promptIndex))
  const rows = await queryable.query<ExcerptRow>(
    `SELECT prompt_index, external_id, left(asked.text, $3) AS text, length(asked.text) > $3 AS is_cut
     FROM compare_prompts LEFT JOIN LATERAL (
       SELECT ${TEXT_OF_CONTENT} AS text
       FROM json_array_elements(messages) WITH ORDINALITY AS said (message, position)
       WHERE message->>'role' = 'user' ORDER BY position DESC LIMIT 1
     ) AS asked ON true
     WHERE run_id = $1 AND prompt_index = ANY ($2::integer[]) ORDER BY prompt_index`,
    [run.id, [...indexes], EXCERPT_LENGTH_MAX],
  )
  return rows.map((row) => ({
    promptIndex: row.prompt_index,
    id: row.external_id,
    text: row.text ?? '',
    isCut: row.is_cut === true,
  }))
}

/** The content of a message is a text, or a list of parts of which some are texts. */
const TEXT_OF_CONTENT = `CASE json_typeof(message->'content')
  WHEN 'string' THEN message->>'content'
  WHEN 'array' THEN (SELECT string_agg(part->>'text', E'\\n') FROM json_array_elements(message->'content') AS part)
  END`

interface ExcerptRow {
  readonly prompt_index: number
  readonly external_id: string | null
  readonly text: string | null
  readonly is_cut: boolean | null
}
