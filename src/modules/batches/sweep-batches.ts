import type { Queryable } from '../../storage/database.ts'

const KEPT_DAYS = 30
/** Of one account, that have ended. */
const KEPT_MAX = 10_000
/** Of those, the newest keep all of their mistakes. The others keep as many as lists show. */
const KEPT_WITH_ERRORS_MAX = 100

const HAS_ENDED = `status IN ('failed', 'completed', 'expired', 'cancelled') AND worker_id IS NULL`

/** SQL: what webhooks told of them. */
const FORGET_NOTICES = 'DELETE FROM account_notices USING forgotten WHERE account_notices.id = forgotten.id'

/** Forgets batches that ended long ago. Their files are kept as long as they were to be kept. */
export async function sweepBatches(queryable: Queryable): Promise<void> {
  await queryable.query(
    `WITH forgotten AS (DELETE FROM batches WHERE created_at < now() - $1 * interval '1 day' AND ${HAS_ENDED} RETURNING id)
     ${FORGET_NOTICES}`,
    [KEPT_DAYS],
  )
}

/** Keeps the batches of an account that have ended within their limits. Called for each new batch. */
export async function forgetOldest(transaction: Queryable, accountId: string): Promise<void> {
  await transaction.query(
    `WITH counted AS (
       SELECT id, row_number() OVER (ORDER BY id DESC) AS place FROM batches
       WHERE account_id = $1 AND ${HAS_ENDED}
     ), forgotten AS (
       DELETE FROM batches USING counted WHERE batches.id = counted.id AND place > $2 RETURNING batches.id
     ), unnoticed AS (
       ${FORGET_NOTICES}
     )
     UPDATE batches SET errors = jsonb_path_query_array(errors, '$[0 to 9]') FROM counted
     WHERE batches.id = counted.id AND place > $3 AND place <= $2 AND jsonb_array_length(errors) > 10`,
    [accountId, KEPT_MAX, KEPT_WITH_ERRORS_MAX],
  )
}
