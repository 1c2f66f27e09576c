import type { Queryable } from '../../../storage/database.ts'
import type { RunError } from './run.ts'

/** Of a run that its budget ended, and of an answer that it cut off. */
export const BUDGET_REACHED_CODE = 'budget_reached'

/** Of an answer that the budget cut off. */
export const CUT_OFF = {
  code: BUDGET_REACHED_CODE,
  message: 'The answer was cut off: what is left of the budget does not cover a longer one.',
}

/** Why a run with a spent budget ends, with what it left out. */
export async function budgetReached(
  queryable: Queryable,
  { id, cellsTotal }: { readonly id: string; readonly cellsTotal: number },
): Promise<RunError> {
  const [row] = await queryable.query<{ missing: bigint }>(
    `SELECT count(*) AS missing FROM compare_cells
     WHERE run_id = $1 AND (status = 'pending' OR error_code = '${BUDGET_REACHED_CODE}')`,
    [id],
  )
  const missing = row?.missing ?? 0n
  return {
    code: BUDGET_REACHED_CODE,
    message:
      `The budget of the run does not cover ${missing} of its ${cellsTotal} answers. ` +
      'Resume it with a larger budget_usd to go on.',
  }
}
