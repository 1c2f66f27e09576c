import { AppError, notFound } from '../../../kernel/app-error.ts'
import { isUuid } from '../../../kernel/identifiers.ts'
import type { Database } from '../../../storage/database.ts'
import { addJob } from '../../../storage/job-queue.ts'
import { idsOf, type Place } from '../../../storage/place.ts'
import { addressesOfMembers } from '../../budget-alerts/budget-alerts.ts'
import { findDelivery, isDeliveryWithin, TAKEN_MS, type WebhookDelivery } from './webhook-delivery.ts'

interface Bounds {
  /** Of one delivery, with the attempts that were asked for. */
  readonly attemptsMax: number
  readonly pauseSeconds: number
  readonly spent: string
  readonly tooSoon: string
}

/** So that nobody uses the gateway to flood a server. */
const OF_CALLS: Bounds = {
  attemptsMax: 100,
  pauseSeconds: 10,
  spent: 'The webhook has been called 100 times, which is the limit.',
  tooSoon: 'The webhook was called less than 10 s ago. Try again in 10 s.',
}
/** Nobody has shown that an address is theirs, and people are flooded sooner than servers. */
const OF_MAILS: Bounds = {
  attemptsMax: 10,
  pauseSeconds: 3_600,
  spent: 'A mail is sent again once an hour, and at most 10 times. This one was sent 10 times.',
  tooSoon: 'A mail is sent again once an hour, and at most 10 times. Try again in an hour.',
}

/** Calls a webhook or sends a mail again at once, with the same `webhook-id`. A delivery that waits for its next attempt does not wait longer. */
export async function redeliverWebhook(
  database: Database,
  place: Place,
  deliveryId: string,
): Promise<WebhookDelivery> {
  if (!isUuid(deliveryId)) throw notFound('webhook delivery')
  return database.transaction(async (transaction) => {
    const [row] = await transaction.query<StateRow>(readWithin(place), [
      deliveryId,
      idsOf(place),
      OF_CALLS.pauseSeconds,
      OF_MAILS.pauseSeconds,
      TAKEN_MS,
    ])
    if (row === undefined) throw notFound('webhook delivery')
    requireTurn(row)
    const [again] = await transaction.query<{ next_attempt_at: Date }>(
      `UPDATE webhook_deliveries SET status = 'pending', next_attempt_at = now(), completed_at = NULL
       WHERE id = $1 RETURNING next_attempt_at`,
      [deliveryId],
    )
    if (again !== undefined) await addJob(transaction, 'webhook', { runAt: again.next_attempt_at })
    const delivery = await findDelivery(transaction, place, deliveryId)
    if (delivery === undefined) throw notFound('webhook delivery')
    return delivery
  })
}

interface StateRow {
  readonly attempts: number
  readonly is_mail: boolean
  /** A mail goes only to an address that the account still names. */
  readonly is_wanted: boolean
  /** An attempt runs now, or is about to. */
  readonly is_taken: boolean
  readonly is_recent: boolean
}

const IS_MAIL = `starts_with(url, 'mailto:')`
const ADDRESS = `substr(url, length('mailto:') + 1)`
const IS_WANTED = `NOT ${IS_MAIL}
  OR EXISTS (
    SELECT FROM budget_alert_settings AS settings WHERE settings.account_id = webhook_deliveries.account_id
      AND ${ADDRESS} = ANY (${addressesOfMembers(
        'settings.account_id',
        'CASE WHEN statement_id IS NOT NULL THEN statement_emails ELSE alert_emails END',
      )})
      AND num_nonnulls(statement_id, budget_alert_id, usage_anomaly_id, account_notice_id) = 1)
  OR EXISTS (
    SELECT FROM budget_warnings AS warnings JOIN budgets ON budgets.id = warnings.budget_id
    WHERE warnings.id = budget_warning_id AND deleted_at IS NULL
      AND ${ADDRESS} = ANY (${addressesOfMembers('budgets.account_id', 'email_recipients')}))`

const readWithin = (place: Place): string => `
  SELECT jsonb_array_length(attempts) AS attempts, ${IS_MAIL} AS is_mail, ${IS_WANTED} AS is_wanted,
    status = 'pending' AND next_attempt_at <= now() + $5 * interval '1 millisecond' AS is_taken,
    coalesce((attempts -> -1 ->> 'at')::timestamptz
      > now() - CASE WHEN ${IS_MAIL} THEN $4::float8 ELSE $3::float8 END * interval '1 second', false) AS is_recent
  FROM webhook_deliveries WHERE id = $1 AND ${isDeliveryWithin(place, '$2')} FOR UPDATE`

function requireTurn(row: StateRow): void {
  const { attemptsMax, pauseSeconds, spent, tooSoon } = row.is_mail ? OF_MAILS : OF_CALLS
  if (!row.is_wanted)
    throw new AppError('conflict', 'The address of the mail is not in the settings any more.')
  if (row.is_taken) throw new AppError('conflict', 'The webhook is being called, or is about to be.')
  if (row.attempts >= attemptsMax) throw new AppError('conflict', spent)
  if (row.is_recent) throw new AppError('rate_limit_exceeded', tooSoon, { retryAfterSeconds: pauseSeconds })
}
