import { AppError } from '../../kernel/app-error.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { Queryable } from '../../storage/database.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { modelIdOf, type Deployment, type Run } from './deployment.ts'
import { gpuCost } from './gpu-cost.ts'

type RunLedger = Pick<
  Ledger,
  'openHold' | 'growHold' | 'settleHold' | 'releaseHold' | 'recall' | 'readBalance'
>

export interface BillingOptions {
  readonly ledger: RunLedger
  /** The number of this process among the writers of usage. */
  readonly writer: () => number
  /** So much is held ahead, and so much can be lost. */
  readonly sliceSeconds: number
}

/** What is missing for the next slice; null when nothing is. */
export type Shortage = 'budget' | 'balance' | 'cap' | null

/** The run, the deployment as it was read in this transaction, and the time. The run's row must be locked. */
export interface BilledRun {
  readonly deployment: Deployment
  readonly run: Run
  readonly nowMs: number
}

/** Slices held ahead: one that runs, and one to notice in that there is no other. */
const SLICES_AHEAD = 2
/** A hold must not end before its run does; the sweep of the ledger is for what nobody looks after any more. */
const HOLD_MS = 400 * 86_400_000
const LATENCY_MS_MAX = 2_147_483_647

/**
 * Charges what a run that is ready has used since it was last charged, and holds credit for the next slices, in the transaction of the
 * caller. A run that is not ready is charged nothing: its hold grows with it. Says what is missing for one more slice.
 */
export async function billSlice(
  transaction: Queryable,
  options: BillingOptions,
  billed: BilledRun,
): Promise<Shortage> {
  const seconds = secondsOf(billed.run, billed.nowMs, Math.floor)
  const settled = await settle(transaction, options, billed, seconds)
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

/** The last charge, up to when its GPU was released, or none at all where it never was ready. */
export async function closeBill(
  transaction: Queryable,
  options: BillingOptions,
  billed: BilledRun & { readonly releasedAtMs: number },
): Promise<void> {
  const { run, releasedAtMs } = billed
  // What was begun is paid, as with every other unit.
  if (run.readyAtMs !== null)
    await settle(transaction, options, billed, secondsOf(run, releasedAtMs, Math.ceil))
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
  if (run.readyAtMs === null || seconds <= run.billedSeconds) return { run, deployment }
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

/** Holds so much, or as much of it as there is, and says how much that is. */
async function hold(
  transaction: Queryable,
  { ledger }: BillingOptions,
  { deployment, run, nowMs }: BilledRun,
  neededNanoUsd: NanoUsd,
): Promise<NanoUsd> {
  const { accountId, keyId } = deployment
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
    atMs: nowMs,
  })
  await transaction.query('UPDATE deployment_runs SET is_held = true, held_nano_usd = $2 WHERE id = $1', [
    run.id,
    heldNanoUsd,
  ])
  return heldNanoUsd
}

/** The account owes money, so that nothing can be held for it. */
export function isInDebt(error: unknown): boolean {
  return error instanceof AppError && error.code === 'insufficient_balance'
}

function holdKeyOf(runId: string, slice: number): string {
  return `gpu:${runId}:${slice}`
}

function secondsOf({ boundAtMs }: Run, untilMs: number, round: (seconds: number) => number): number {
  return boundAtMs === null ? 0 : Math.max(0, round((untilMs - boundAtMs) / 1000))
}

/** What its budget still allows. */
function roomOf({ budgetLimitNanoUsd, spentNanoUsd }: Deployment): NanoUsd {
  if (budgetLimitNanoUsd === null) return NO_LIMIT
  return budgetLimitNanoUsd > spentNanoUsd ? budgetLimitNanoUsd - spentNanoUsd : 0n
}

/** More than anything can cost. */
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
  }
}
