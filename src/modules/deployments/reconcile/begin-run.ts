import { createId } from '../../../kernel/identifiers.ts'
import { messageOf } from '../../../storage/storage-error.ts'
import type { Queryable } from '../../../storage/database.ts'
import { billSlice, isInDebt, type Shortage } from '../bill/bill-run.ts'
import { changeDesired, lockClaimed, writeTransition } from './claim-deployments.ts'
import { modelIdOf, type Deployment, type Run } from '../deployment.ts'
import { readOpenRun } from '../deployment-row.ts'
import { gpuCost } from '../bill/gpu-cost.ts'
import { failRun } from './fail-run.ts'
import { readToken, TokenUnreadable } from '../models/hub-tokens.ts'
import type { Reconciliation, NextReconcileMs } from './reconciliation.ts'

/** Stores a run with its credit hold, then calls the driver, so that each instance of the driver has a row. */
export async function beginRun(reconciliation: Reconciliation): Promise<NextReconcileMs> {
  const { database, clock, claim, billing } = reconciliation
  const { id, accountId } = claim.deployment
  const runId = createId(clock.nowMs())
  const attempt = () =>
    database.transaction((transaction) => insertRun(transaction, reconciliation, runId)).catch(readShortage)
  let shortage = await attempt()
  if (shortage === 'balance' && billing !== null) {
    // The missing credit may be lent to processes that do not use it.
    await billing.ledger.recall(accountId)
    shortage = await attempt()
  }
  if (shortage !== null) {
    await stopForShortage(reconciliation, shortage)
    return null
  }
  await reconciliation.announce(id)
  const run = await readOpenRun(database, id, { isLocked: false })
  return run === null ? 0 : launchRun(reconciliation, run)
}

/** Not a retryable failure: only the account can give its token again. */
const UNREADABLE_TOKEN = {
  code: 'hub_token_unreadable',
  message:
    'The hub token of the deployment cannot be decrypted, because the gateway has another sealing key. Make the deployment again with its token.',
  lostAtMs: null,
} as const

/** Launches the instance. Called again if the driver failed or its reply was lost. */
export async function launchRun(reconciliation: Reconciliation, run: Run): Promise<NextReconcileMs> {
  const { driver, database, clock, claim, paces, logger, sealer } = reconciliation
  const { deployment } = claim
  try {
    await driver.launch({
      instanceId: run.id,
      tierId: deployment.gpuTier,
      huggingfaceId: deployment.huggingfaceId,
      revision: deployment.revision,
      quantization: deployment.quantization,
      maxModelLen: deployment.maxModelLen,
      hubToken: await readToken(database, sealer, deployment.id),
      environment: deployment.env,
    })
  } catch (error) {
    if (error instanceof TokenUnreadable) return failRun(reconciliation, run, UNREADABLE_TOKEN)
    logger.warn({ deployment: deployment.id, reason: messageOf(error) }, 'a deployment could not be launched')
    return paces.changingMs
  }
  await database.query('UPDATE deployment_runs SET launched_at = $2 WHERE id = $1 AND launched_at IS NULL', [
    run.id,
    new Date(clock.nowMs()),
  ])
  return 0
}

/** Thrown to roll back the transaction that found the shortage. */
class ShortOfMoney extends Error {
  override readonly name = 'ShortOfMoney'
  readonly shortage: NonNullable<Shortage>

  constructor(shortage: NonNullable<Shortage>) {
    super(shortage)
    this.shortage = shortage
  }
}

function readShortage(error: unknown): Shortage {
  if (error instanceof ShortOfMoney) return error.shortage
  if (isInDebt(error)) return 'balance'
  throw error
}

async function insertRun(
  transaction: Queryable,
  { claim, billing, clock }: Reconciliation,
  runId: string,
): Promise<null> {
  const nowMs = clock.nowMs()
  const deployment = await lockClaimed(transaction, claim)
  if (deployment.intent !== claim.deployment.intent) return null
  await transaction.query(
    `INSERT INTO deployment_runs (id, deployment_id, account_id, price_per_hour_nano_usd, created_at)
     VALUES ($1, $2, $3, $4, $5)`,
    [runId, deployment.id, deployment.accountId, deployment.pricePerHourNanoUsd, new Date(nowMs)],
  )
  const run = await readOpenRun(transaction, deployment.id, { isLocked: true })
  if (billing !== null && run !== null) {
    const shortage = await billSlice(transaction, billing, { deployment, run, nowMs })
    if (shortage !== null) throw new ShortOfMoney(shortage)
  }
  const isWaking = deployment.status === 'sleeping'
  const attempt = deployment.attempt + 1
  await writeTransition(transaction, deployment, {
    change: {
      status: isWaking ? 'starting' : 'creating',
      status_reason: null,
      error_code: null,
      error_message: null,
      progress: 0,
      attempt,
    },
    event: {
      type: isWaking ? 'waking' : 'creating',
      message: `A GPU of the tier ${deployment.gpuTier} is asked for.`,
      metadata: { attempt, run_id: runId },
    },
    nowMs,
  })
  return null
}

const OF_DEPLOYMENT = { reason: 'budget_reached', message: 'The budget of the deployment is reached.' }
const OF_CREDIT = { reason: 'insufficient_balance', message: 'The credit does not cover more GPU time.' }

/** A budget of the account, of its project and so on, or a limit of the key, is told by its name and with what is left of it. */
async function explainShortage(
  { database, billing, claim, clock }: Pick<Reconciliation, 'database' | 'billing' | 'claim' | 'clock'>,
  shortage: NonNullable<Shortage>,
): Promise<{ readonly reason: string; readonly message: string }> {
  if (shortage === 'budget') return OF_DEPLOYMENT
  if (billing === null) return OF_CREDIT
  const { id, accountId, keyId, labels, pricePerHourNanoUsd } = claim.deployment
  const cap = await billing.ledger.explainCaps(database, {
    accountId,
    keyId,
    model: modelIdOf(id),
    labels: labels ?? [],
    atMs: clock.nowMs(),
    neededNanoUsd: gpuCost(pricePerHourNanoUsd, 2 * billing.sliceSeconds),
  })
  if (cap === null) return OF_CREDIT
  return {
    reason: cap.code === 'key_limit_reached' ? 'key_limit_reached' : 'budget_exceeded',
    message: `No more GPU time. ${cap.message}`,
  }
}

/** Sets the desired state to `stopped`, with the kind of shortage as the reason. */
export async function stopForShortage(
  reconciliation: Pick<Reconciliation, 'database' | 'claim' | 'clock' | 'billing' | 'announce'>,
  shortage: NonNullable<Shortage>,
): Promise<Deployment> {
  const { database, claim, clock } = reconciliation
  const { reason, message } = await explainShortage(reconciliation, shortage)
  const changed = await database.transaction(async (transaction) => {
    const locked = await lockClaimed(transaction, claim)
    // The account has asked for something else meanwhile, such as deletion. The next reconciliation handles that.
    if (locked.intent !== claim.deployment.intent) return locked
    const deployment = await changeDesired(transaction, locked, 'stopped')
    const isRunning = (await readOpenRun(transaction, deployment.id, { isLocked: false })) !== null
    const nowMs = clock.nowMs()
    return writeTransition(transaction, deployment, {
      change: {
        status_reason: reason,
        ...(isRunning ? {} : { status: 'stopped' as const, stopped_at: new Date(nowMs) }),
      },
      event: { type: reason, message },
      nowMs,
    })
  })
  await reconciliation.announce(claim.deployment.id)
  return changed
}
