import { warningToWire } from '../../http/routes/organization/budget-warning-wire.ts'
import { alertToAddress } from '../../http/routes/account/budget-alerts.ts'
import { noticeToAddress } from '../../http/routes/account/account-notices.ts'
import { anomalyToAddress, comparisonToWire } from '../../http/routes/account/usage-anomalies.ts'
import { statementMail } from '../../http/routes/account/statement-mail.ts'
import { statementToWebhook } from '../../http/routes/account/statement-wire.ts'
import { toTaskAnswer } from '../../http/routes/tasks/task-wire.ts'
import { usdFromNanoUsd } from '../../kernel/money.ts'
import { createMailer } from '../../mail/mailer.ts'
import { sweepOldBudgets } from '../../modules/budgets/budgets.ts'
import { readNotice, sweepNotices } from '../../modules/billing/billing.ts'
import {
  listAlertAddresses,
  readAlertSettings,
  sweepBudgetAlerts,
} from '../../modules/budget-alerts/budget-alerts.ts'
import { sweepExportCounts } from '../../modules/agent-telemetry/agent-telemetry.ts'
import { sweepExports } from '../../modules/exports/exports.ts'
import { sweepGrants } from '../../modules/grants/grants.ts'
import { sweepAccessTokens } from '../../modules/keys/keys.ts'
import { sweepResponses } from '../../modules/responses/responses.ts'
import { forgetEvents } from '../../modules/deployments/deployments.ts'
import { sweepChallenges } from '../../modules/passkeys/passkeys.ts'
import { sweepDirectory } from '../../modules/directory/directory.ts'
import { sweepExchangedTokens } from '../../modules/trust/trust.ts'
import { sweepSavedChats } from '../../modules/saved-chats/saved-chats.ts'
import { sweepSessions } from '../../modules/sessions/sessions.ts'
import { createBatchRunner, sweepBatches, type BatchRunner } from '../../modules/batches/batches.ts'
import { createAskScorer, createRunner, sweepRuns, type Runner } from '../../modules/compare/compare.ts'
import {
  createTaskChanges,
  createTaskQueue,
  daysToMs,
  deliverDueWebhooks,
  forgetTasks,
  queueAnomalyWebhook,
  sweepResults,
} from '../../modules/tasks/tasks.ts'
import { readToldAnomaly, tellAnomalies } from '../../modules/usage/usage.ts'
import { createBorrower, type Borrower } from '../../storage/borrowing/borrower.ts'
import { sweepTickets } from '../../storage/job-queue.ts'
import { wholeAccount } from '../../storage/place.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import type { Worker } from '../../worker/worker.ts'
import type { Modules } from './build-modules.ts'
import { monthsBefore } from './months-before.ts'
import { buildExporter } from './build-exporter.ts'
import { buildReconciler } from './build-reconciler.ts'
import { RECLAIMERS } from './build-tasks.ts'
import type { Config } from '../settings/config.ts'
import { checkLedgerDaily } from '../report/check-ledger-daily.ts'
import { reportUncovered } from '../report/report-uncovered.ts'
import { bootstrapInterval, createRunJudge } from '../../modules/judging/judging.ts'

interface WorkerParts {
  readonly modules: Modules
  readonly connectionString: string
  readonly logger: GatewayLogger
}

/** Builds the worker of this process. It is a separate borrower, so that its writes do not wait for those of requests. */
export async function buildWorker(
  config: Config,
  { modules, connectionString, logger }: WorkerParts,
): Promise<Worker> {
  // Loaded only in processes with a worker.
  const { createWorker } = await import('../../worker/worker.ts')
  const { database, messageBus, ledger, media, tasks, budgetAlerts, budgets, outbound, performer } = modules
  const { webhookSecrets } = modules
  const mailer = config.smtpUrl === null ? null : createMailer({ url: config.smtpUrl, from: config.smtpFrom })
  const settingsOf = (accountId: string) => readAlertSettings(database, accountId)
  const borrower = await createBorrower({ database, logger, leaseMs: config.leaseMs, reclaimers: RECLAIMERS })
  const exporter = buildExporter(config, { modules, borrower, logger })
  try {
    const worker = await createWorker({
      connectionString,
      queue: createTaskQueue({
        database,
        ledger: config.billing ? ledger : null,
        borrower,
        limits: config.taskLimits,
        retentionMs: daysToMs(config.resultRetentionDays),
        changes: createTaskChanges({ messageBus, logger }),
        onUncovered: reportUncovered({ metrics: modules.metrics, logger }),
        onCharged: ({ model, provider, chargedNanoUsd }) =>
          modules.metrics.spent({ model, provider, costUsd: usdFromNanoUsd(chargedNanoUsd) }),
      }),
      performer,
      runners: [
        buildRunner(config, { modules, borrower, logger }),
        buildBatchRunner(config, { modules, borrower, logger }),
        ...(exporter === null ? [] : [exporter]),
      ],
      borrower,
      concurrency: config.workerConcurrency,
      deliverWebhooks: () =>
        deliverDueWebhooks({
          database,
          webhookSecrets,
          outbound,
          mailer,
          clock: modules.clock,
          describeTask: async (accountId, taskId) =>
            toTaskAnswer(await tasks.read(wholeAccount(accountId), taskId)),
          describeAlert: async (accountId, alertId, url) =>
            alertToAddress(await budgetAlerts.read(accountId, alertId), url, await settingsOf(accountId)),
          describeWarning: async (accountId, warningId, url) =>
            warningToWire(await budgets.readWarning(accountId, warningId), url, await settingsOf(accountId)),
          describeStatement: async (accountId, statementId, url) => {
            const statement = await modules.statements.readById(accountId, statementId)
            return url.startsWith('mailto:')
              ? statementMail(statement, config.publicUrl)
              : statementToWebhook(statement, url, await settingsOf(accountId))
          },
          describeAnomaly: async (accountId, anomalyId, url) =>
            anomalyToAddress(
              await readToldAnomaly(database, accountId, anomalyId),
              url,
              await settingsOf(accountId),
            ),
          describeNotice: async (accountId, noticeId, url) =>
            noticeToAddress(
              await readNotice(database, accountId, noticeId),
              url,
              await settingsOf(accountId),
            ),
          logger,
        }),
      sweep: async () => {
        await sweepResults(database, (mediaIds) => media.remove(mediaIds))
        const keptSinceMs = monthsBefore(modules.clock.nowMs(), config.usageRetentionMonths)
        await forgetTasks(database, keptSinceMs)
        await forgetEvents(database, keptSinceMs)
        await modules.files.sweep()
        await sweepBatches(database)
        await sweepTickets(database)
        await sweepBudgetAlerts(database)
        await sweepNotices(database)
        await sweepOldBudgets(database)
        await sweepSessions(database)
        await sweepSavedChats(database)
        await sweepAccessTokens(database)
        await sweepExchangedTokens(database)
        await sweepChallenges(database)
        await sweepDirectory(database)
        await sweepGrants(database)
        await sweepExportCounts(database)
        await sweepExports({
          database,
          keptMs: config.exportKeptHours * 3_600_000,
          logger,
          onSkipped: (sink, requests) => modules.metrics.exports.counted(sink, 'skipped', requests),
        })
        await sweepResponses(database)
        await webhookSecrets.sealClear()
        await sweepRuns(database, daysToMs(config.compareRetentionDays))
        await ledger.postCharges()
        await tellAnomalies({
          database,
          nowMs: modules.clock.nowMs(),
          logger,
          describe: comparisonToWire,
          canMail: mailer !== null,
          queueWebhooks: async (transaction, anomaly) => {
            for (const url of await listAlertAddresses(transaction, anomaly.accountId, mailer !== null))
              await queueAnomalyWebhook(transaction, { ...anomaly, url })
          },
        })
      },
      clock: modules.clock,
      logger,
    })
    const ledgerCheck = checkLedgerDaily({
      database,
      connectionString,
      everyMs: config.ledgerCheckHours * 3_600_000,
      logger,
    })
    const reconciler = buildReconciler(config, { modules, borrower, logger })
    reconciler.start()
    return {
      isRunning: () => worker.isRunning(),
      close: async (options) => {
        await Promise.all([worker.close(options), reconciler.close(), ledgerCheck.close()])
        mailer?.close()
        await borrower.close()
      },
    }
  } catch (error) {
    await borrower.close()
    throw error
  }
}

/** Builds the runner of comparison runs, for a process with a worker. */
function buildRunner(
  config: Config,
  { modules, borrower, logger }: { modules: Modules; borrower: Borrower; logger: GatewayLogger },
): Runner {
  const { database, clock, messageBus, ask, keys, batches, files, outbound, webhookSecrets } = modules
  return createRunner({
    database,
    clock,
    messageBus,
    borrower,
    ask,
    keys,
    batches,
    files,
    isBilled: config.billing,
    judge: createRunJudge({ database, clock, ask, keys, isBilled: config.billing }),
    findInterval: bootstrapInterval,
    askScorer: createAskScorer({ webhookSecrets, outbound, clock }),
    logger,
  })
}

/** Builds what works on batches, for a process with a worker. */
function buildBatchRunner(
  config: Config,
  { modules, borrower, logger }: { modules: Modules; borrower: Borrower; logger: GatewayLogger },
): BatchRunner {
  const {
    database,
    clock,
    messageBus,
    files,
    keys,
    ledger,
    limits,
    batchEndpoints,
    interactiveLoad,
    providers,
  } = modules
  return createBatchRunner({
    database,
    clock,
    messageBus,
    borrower,
    files,
    keys,
    ledger: config.billing ? ledger : null,
    limits,
    findEndpoint: (path) => batchEndpoints.get(path),
    allowsSeveralModels: config.batchSeveralModels,
    findBatchApi: (providerId) => providers.get(providerId)?.batch ?? null,
    handedPace: { pollMs: config.batchPollMs },
    interactiveLoad,
    logger,
  })
}
