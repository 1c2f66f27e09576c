import { AppError } from '../../../kernel/app-error.ts'
import { createId } from '../../../kernel/identifiers.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'
import { forgetHolds, type Ledger } from '../../ledger/ledger.ts'
import { boundSeconds } from './bound-seconds.ts'
import { modelIdOf, type Deployment, type Run } from '../deployment.ts'
import { gpuCost } from './gpu-cost.ts'

type RunLedger = Pick<
  Ledger,
  'openHold' | 'growHold' | 'explainCaps' | 'settleHold' | 'releaseHold' | 'recall'
>

export interface BillingOptions {
  readonly ledger: RunLedger
  /** Returns this process's number among the writers of usage records. */
  readonly writer: () => number
  /** How often GPU time is charged. Credit is held for `SLICES_AHEAD` slices in advance. */
  readonly sliceSeconds: number
}

/** Why the credit does not cover the next slice; null if it does. */
export type Shortage = 'budget' | 'balance' | null

/** The rows of the run and the deployment, read in the current transaction. The run's row must be locked. */
export interface BilledRun {
  readonly deployment: Deployment
  readonly run: Run
  readonly nowMs: number
}

/** Slices held in advance: the current one, and one in which a lack of credit is noticed. */
const SLICES_AHEAD = 2
/** Longer than any run, because a hold must not expire before its run ends. Expiry is only for abandoned holds. */
const HOLD_MS = 400 * 86_400_000
const LATENCY_MS_MAX = 2_147_483_647

/**
 * Charges a ready run for the time since its last charge, and holds credit for the next slices, in the caller's transaction. A
 * run that is not ready yet is not charged: its hold grows instead. Returns the reason if the hold does not cover one more slice.
 */
export async function billSlice(
  transaction: Queryable,
  options: BillingOptions,
  billed: BilledRun,
): Promise<Shortage> {
  const seconds = boundSeconds(billed.run, billed.nowMs, Math.floor)
  const isReady = billed.run.readyAtMs !== null
  const settled = isReady ? await settle(transaction, options, billed, seconds) : billed
  const { run, deployment } = settled
  const costUntil = (until: number) =>
    gpuCost(run.pricePerHourNanoUsd, until) - gpuCost(run.pricePerHourNanoUsd, run.billedSeconds)
  const room = roomOf(deployment)
  const wantedNanoUsd = lesser(costUntil(seconds + SLICES_AHEAD * options.sliceSeconds), room)
  const heldNanoUsd = await hold(transaction, options, { ...billed, ...settled }, wantedNanoUsd)
  const leastNanoUsd = costUntil(seconds + options.sliceSeconds)
  if (heldNanoUsd >= leastNanoUsd) return null
  return room < leastNanoUsd ? 'budget' : 'balance'
}

/**
 * Charges a run up to the release of its GPU and releases its hold. A run that was stopped before it was ready is charged too. A
 * failed start is not: `failRun` has removed the time of its binding.
 */
export async function closeBill(
  transaction: Queryable,
  options: BillingOptions,
  billed: BilledRun & { readonly releasedAtMs: number },
): Promise<void> {
  const { run, releasedAtMs } = billed
  // The last second is rounded up: a started second is charged.
  await settle(transaction, options, billed, boundSeconds(run, releasedAtMs, Math.ceil))
  const [row] = await transaction.query<{ is_held: boolean; slice: number }>(
    'UPDATE deployment_runs SET released_at = $2, held_nano_usd = 0 WHERE id = $1 RETURNING is_held, slice',
    [run.id, new Date(releasedAtMs)],
  )
  if (row?.is_held !== true) return
  await options.ledger.releaseHold(transaction, holdKeyOf(run.id, row.slice))
  await transaction.query('UPDATE deployment_runs SET is_held = false WHERE id = $1', [run.id])
}

interface Settled {
  readonly run: Run
  readonly deployment: Deployment
}

async function settle(
  transaction: Queryable,
  options: BillingOptions,
  { deployment, run, nowMs }: BilledRun,
  seconds: number,
): Promise<Settled> {
  if (seconds <= run.billedSeconds) return { run, deployment }
  const dueNanoUsd =
    gpuCost(run.pricePerHourNanoUsd, seconds) - gpuCost(run.pricePerHourNanoUsd, run.billedSeconds)
  const payableNanoUsd = lesser(dueNanoUsd, roomOf(deployment))
  const heldNanoUsd = await hold(transaction, options, { deployment, run, nowMs }, payableNanoUsd)
  const chargedNanoUsd = lesser(payableNanoUsd, heldNanoUsd)
  const uncoveredNanoUsd = dueNanoUsd - chargedNanoUsd
  await options.ledger.settleHold(transaction, {
    key: holdKeyOf(run.id, run.slice),
    chargedNanoUsd,
    uncoveredNanoUsd,
    reason: `GPU time of deployment ${deployment.id}`,
    usage: { writer: options.writer(), record: usageOf(deployment, run, seconds, nowMs) },
  })
  await transaction.query(SETTLED, [run.id, seconds, chargedNanoUsd, uncoveredNanoUsd])
  // A run of months has hundreds of thousands of slices. The last one stays, for whoever settles it again.
  await forgetHolds(transaction, [holdKeyOf(run.id, run.slice - 1)])
  await transaction.query('UPDATE deployments SET spent_nano_usd = spent_nano_usd + $2 WHERE id = $1', [
    deployment.id,
    chargedNanoUsd,
  ])
  return {
    run: {
      ...run,
      slice: run.slice + 1,
      isHeld: false,
      heldNanoUsd: 0n,
      billedSeconds: seconds,
      chargedNanoUsd: run.chargedNanoUsd + chargedNanoUsd,
    },
    deployment: { ...deployment, spentNanoUsd: deployment.spentNanoUsd + chargedNanoUsd },
  }
}

const SETTLED = `
  UPDATE deployment_runs SET slice = slice + 1, is_held = false, held_nano_usd = 0, billed_seconds = $2,
    charged_nano_usd = charged_nano_usd + $3, uncovered_nano_usd = uncovered_nano_usd + $4 WHERE id = $1`

/** Raises the run's hold to the needed amount, or as far as the credit allows. Returns the held amount. */
async function hold(
  transaction: Queryable,
  { ledger }: BillingOptions,
  { deployment, run, nowMs }: BilledRun,
  neededNanoUsd: NanoUsd,
): Promise<NanoUsd> {
  const { accountId, keyId, labels } = deployment
  const key = holdKeyOf(run.id, run.slice)
  if (run.isHeld && run.heldNanoUsd >= neededNanoUsd) return run.heldNanoUsd
  if (!run.isHeld)
    await ledger.openHold(transaction, {
      key,
      accountId,
      amountNanoUsd: 0n,
      expiresAtMs: nowMs + HOLD_MS,
      caps: [],
    })
  const heldNanoUsd = await ledger.growHold(transaction, {
    key,
    accountId,
    keyId,
    neededNanoUsd,
    model: modelIdOf(deployment.id),
    labels: labels ?? [],
    atMs: nowMs,
  })
  await transaction.query('UPDATE deployment_runs SET is_held = true, held_nano_usd = $2 WHERE id = $1', [
    run.id,
    heldNanoUsd,
  ])
  return heldNanoUsd
}

/** Returns whether the ledger refused to open a hold for lack of balance, as it does for an account in debt. */
export function isInDebt(error: unknown): boolean {
  return error instanceof AppError && error.code === 'insufficient_balance'
}

function holdKeyOf(runId: string, slice: number): string {
  return `gpu:${runId}:${slice}`
}

/** Returns what is left of the deployment's budget. */
function roomOf({ budgetLimitNanoUsd, spentNanoUsd }: Deployment): NanoUsd {
  if (budgetLimitNanoUsd === null) return NO_LIMIT
  return budgetLimitNanoUsd > spentNanoUsd ? budgetLimitNanoUsd - spentNanoUsd : 0n
}

/** Higher than any possible cost. */
const NO_LIMIT: NanoUsd = 1n << 62n

function lesser(a: NanoUsd, b: NanoUsd): NanoUsd {
  return a < b ? a : b
}

function usageOf(deployment: Deployment, run: Run, seconds: number, nowMs: number) {
  const latencyMs = Math.min((seconds - run.billedSeconds) * 1000, LATENCY_MS_MAX)
  return {
    id: createId(nowMs).replaceAll('-', ''),
    accountId: deployment.accountId,
    keyId: deployment.keyId,
    environment: deployment.environment,
    operation: 'gpu',
    model: modelIdOf(deployment.id),
    provider: deployment.driver,
    outcome: 'completed' as const,
    promptTokens: 0,
    cachedTokens: 0,
    completionTokens: 0,
    reasoningTokens: 0,
    latencyMs,
    firstTokenMs: null,
    createdAtMs: nowMs,
    ...(deployment.labels !== null && { labels: deployment.labels }),
  }
}
