import { invalidValue } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { Database } from '../../storage/database.ts'
import { messageOf } from '../../storage/storage-error.ts'
import { changeAlertSettings, readAlertSettings, type AlertSettings } from './alert-settings.ts'
import { requireMembers } from './member-addresses.ts'
import {
  listAlerts,
  readAlert,
  readReached,
  type BudgetAlert,
  type ReachedThresholds,
} from './budget-alert.ts'
import { raiseDueAlerts, type QueueAlertWebhook } from './raise-due-alerts.ts'

export {
  listAlertAddresses,
  listStatementEmails,
  readAlertSettings,
  type AlertSettings,
} from './alert-settings.ts'
export { addressesOfMembers } from './member-addresses.ts'
export { sweepBudgetAlerts, type BudgetAlert, type ReachedThresholds } from './budget-alert.ts'

/** Tells accounts that they have spent a part of a budget, once per threshold and period. */
export interface BudgetAlerts {
  readSettings(accountId: string): Promise<AlertSettings>
  /** Absent members stay as they are. A threshold that is reached already raises its alert. */
  changeSettings(accountId: string, changes: Partial<AlertSettings>): Promise<AlertSettings>
  /** Newest first. */
  list(accountId: string, page: PageRequest): Promise<Page<BudgetAlert>>
  read(accountId: string, alertId: string): Promise<BudgetAlert>
  /** The highest threshold that has raised an alert in the present day and month; null for none. */
  readReached(accountId: string): Promise<ReachedThresholds>
  close(): void
}

interface BudgetAlertsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly logger: Logger
  /** Throws for an address that could never be called. */
  readonly checkWebhookUrl: (url: string) => Promise<void>
  readonly queueWebhook: QueueAlertWebhook
  /** Whether the operator has set a server for mail. */
  readonly canMail: boolean
  readonly sweepMs?: number
}

const SWEEP_MS = 3_000
export const THRESHOLDS_MAX = 10
export const EMAILS_MAX = 5

export function createBudgetAlerts(options: BudgetAlertsOptions): BudgetAlerts {
  const { database, clock } = options
  const stop = startSweep(options)
  return {
    readSettings: (accountId) => readAlertSettings(database, accountId),
    changeSettings: async (accountId, changes) => {
      const { webhookUrl = null, statementEmails = [], alertEmails = [] } = changes
      const mailed = { statement_emails: statementEmails, alert_emails: alertEmails }
      for (const [param, emails] of Object.entries(mailed)) {
        if (emails.length > 0 && !options.canMail)
          throw invalidValue(param, 'This gateway sends no mail: its operator has set no mail server.')
        await requireMembers(database, accountId, { param, emails })
      }
      if (webhookUrl !== null) await options.checkWebhookUrl(webhookUrl)
      const thresholdsPercent = changes.thresholdsPercent && orderThresholds(changes.thresholdsPercent)
      return changeAlertSettings(
        database,
        accountId,
        { ...changes, ...(thresholdsPercent && { thresholdsPercent }) },
        clock.nowMs(),
      )
    },
    list: (accountId, page) => listAlerts(database, accountId, page),
    read: (accountId, alertId) => readAlert(database, accountId, alertId),
    readReached: (accountId) => readReached(database, accountId, clock.nowMs()),
    close: stop,
  }
}

function orderThresholds(thresholds: readonly number[]): number[] {
  const isValid = (percent: number): boolean => Number.isInteger(percent) && percent >= 1 && percent <= 100
  if (!thresholds.every(isValid) || thresholds.length > THRESHOLDS_MAX)
    throw invalidValue(
      'thresholds_percent',
      `thresholds_percent must be at most ${THRESHOLDS_MAX} whole numbers from 1 to 100.`,
    )
  if (new Set(thresholds).size < thresholds.length)
    throw invalidValue('thresholds_percent', 'thresholds_percent must not name a threshold twice.')
  return thresholds.toSorted((first, second) => first - second)
}

/** Every process looks for accounts that have spent. What one of them takes, the others do not see. */
function startSweep(options: BudgetAlertsOptions): () => void {
  const { logger, sweepMs = SWEEP_MS } = options
  let timer: NodeJS.Timeout | null = null
  let isStopped = false
  const schedule = (): void => {
    if (isStopped) return
    // Random, so that processes that started together do not sweep together.
    timer = setTimeout(run, sweepMs * (0.5 + Math.random())).unref()
  }
  const run = (): void => {
    raiseDueAlerts(options)
      .catch((error: unknown) =>
        logger.warn({ reason: messageOf(error) }, 'budget alerts could not be raised yet'),
      )
      .finally(schedule)
  }
  schedule()
  return () => {
    isStopped = true
    if (timer) clearTimeout(timer)
  }
}
