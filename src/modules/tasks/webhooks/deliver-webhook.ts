import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Clock } from '../../../kernel/clock.ts'
import type { Mailer } from '../../../mail/mailer.ts'
import type { Outbound } from '../../../outbound/outbound.ts'
import type { Database } from '../../../storage/database.ts'
import { addJob } from '../../../storage/job-queue.ts'
import { messageOf } from '../../../storage/storage-error.ts'
import { recordAttempt, type DueDelivery, type WebhookAttempt } from './webhook-delivery.ts'
import { signWebhook } from './sign-webhook.ts'
import type { WebhookSecrets } from './webhook-secret.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** The pauses between attempts. After the last one the delivery fails. */
const RETRY_PAUSES_MS: readonly number[] = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
]
const JITTER = 0.2

const ANSWER_MS_MAX = 15 * SECOND_MS
const ANSWER_BYTES_MAX = 64 * 1024

export interface DeliverOptions {
  readonly database: Database
  readonly webhookSecrets: Pick<WebhookSecrets, 'readSigning'>
  readonly outbound: Pick<Outbound, 'fetch'>
  /** Null if the operator has set no server for mail. */
  readonly mailer: Pick<Mailer, 'send'> | null
  readonly clock: Clock
  /** The body of `GET /v1/tasks/{id}`. */
  readonly describeTask: (accountId: string, taskId: string) => Promise<unknown>
  /** What an address gets for a budget alert of the account: a mail, a message or the event `budget.alert`. */
  readonly describeAlert: (accountId: string, budgetAlertId: string, url: string) => Promise<unknown>
  /** What an address gets for a warning of a budget. */
  readonly describeWarning: (accountId: string, budgetWarningId: string, url: string) => Promise<unknown>
  /** What an address gets for a statement: a mail, or the event `statement.closed`. */
  readonly describeStatement: (accountId: string, statementId: string, url: string) => Promise<unknown>
  /** The same for an unusual day. */
  readonly describeAnomaly: (accountId: string, usageAnomalyId: string, url: string) => Promise<unknown>
  /** The same for what else happened to the account. */
  readonly describeNotice: (accountId: string, accountNoticeId: string, url: string) => Promise<unknown>
}

/** Makes one attempt to deliver the webhook of a finished task or of a budget alert. Any 2xx status counts as delivered. */
export async function deliverWebhook(options: DeliverOptions, delivery: DueDelivery): Promise<void> {
  const { database } = options
  const attempt = await tryOnce(options, delivery)
  const isHeard = attempt.status !== null && attempt.status >= 200 && attempt.status < 300
  const pauseMs = RETRY_PAUSES_MS[delivery.attemptsMade]
  if (isHeard || pauseMs === undefined) {
    const status = isHeard ? 'delivered' : 'failed'
    await recordAttempt(database, delivery.id, attempt, { status, pauseMs: null })
    return
  }
  const jitteredMs = pauseMs * (1 + JITTER * Math.random())
  await database.transaction(async (transaction) => {
    const next = { status: 'pending', pauseMs: jitteredMs } as const
    const retryAt = await recordAttempt(transaction, delivery.id, attempt, next)
    if (retryAt !== null) await addJob(transaction, 'webhook', { runAt: retryAt })
  })
}

async function tryOnce(options: DeliverOptions, delivery: DueDelivery): Promise<WebhookAttempt> {
  const { clock } = options
  const startedMs = clock.nowMs()
  const beganMs = clock.monotonicMs()
  const attempt = { at: new Date(startedMs).toISOString(), status: null, error: null }
  try {
    const status = delivery.url.startsWith(MAIL)
      ? await sendMail(options, delivery)
      : await callWebhook(options, delivery, startedMs)
    return { ...attempt, status, duration_ms: Math.round(clock.monotonicMs() - beganMs) }
  } catch (error) {
    return { ...attempt, error: messageOf(error), duration_ms: Math.round(clock.monotonicMs() - beganMs) }
  }
}

const MAIL = 'mailto:'
/** What a mail server answers to a mail that it takes. */
const TAKEN = 250

async function sendMail(options: DeliverOptions, delivery: DueDelivery): Promise<number> {
  const { mailer } = options
  if (mailer === null) throw new Error('the operator has set no server for mail')
  const mail = Value.Parse(MailText, await describeSubject(options, delivery))
  await mailer.send({ ...mail, to: delivery.url.slice(MAIL.length), id: delivery.id })
  return TAKEN
}

const MailText = Type.Object({
  subject: Type.String(),
  text: Type.String(),
  attachment: Type.Optional(Type.Object({ name: Type.String(), type: Type.String(), base64: Type.String() })),
})

async function callWebhook(
  options: DeliverOptions,
  delivery: DueDelivery,
  startedMs: number,
): Promise<number> {
  const { webhookSecrets, outbound } = options
  const body = JSON.stringify(await describeSubject(options, delivery))
  const { accountId, id } = delivery
  const answer = await outbound.fetch({
    url: delivery.url,
    method: 'POST',
    headers: await signWebhook(webhookSecrets, { accountId, id, atMs: startedMs, body }),
    body,
    bytesMax: ANSWER_BYTES_MAX,
    timeoutMs: ANSWER_MS_MAX,
  })
  answer.discard()
  return answer.status
}

function describeSubject(
  options: DeliverOptions,
  { accountId, taskId, budgetAlertId, budgetWarningId, statementId, url, ...others }: DueDelivery,
): Promise<unknown> {
  const { usageAnomalyId, accountNoticeId } = others
  if (taskId !== null) return options.describeTask(accountId, taskId)
  if (budgetAlertId !== null) return options.describeAlert(accountId, budgetAlertId, url)
  if (budgetWarningId !== null) return options.describeWarning(accountId, budgetWarningId, url)
  if (statementId !== null) return options.describeStatement(accountId, statementId, url)
  if (usageAnomalyId !== null) return options.describeAnomaly(accountId, usageAnomalyId, url)
  if (accountNoticeId !== null) return options.describeNotice(accountId, accountNoticeId, url)
  throw new Error('a webhook tells of nothing')
}
