import { setTimeout as delay } from 'node:timers/promises'
import { AppError, type ErrorCode } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { FoundCharge } from '../ledger/ledger.ts'

/** How often a call that nobody waits for is made in all. */
export const UNATTENDED_TRIES_MAX = 3
const PAUSE_MS = 1_000
const PAUSE_MS_MAX = 60_000

const PASSING: ReadonlySet<ErrorCode> = new Set([
  'provider_error',
  'timeout',
  'service_unavailable',
  'rate_limit_exceeded',
  'concurrency_limit_reached',
  'queue_full',
  'capacity_exhausted',
  'deployment_waking',
  'internal_error',
])

/** Whether the same call may be answered later. */
export function mayPass({ code }: AppError): boolean {
  return PASSING.has(code)
}

/** Before the next try, after so many. Ends early when it is cancelled, and says nothing of it. */
export async function pauseBeforeTry(
  tries: number,
  { retryAfterSeconds }: AppError,
  { signal }: Cancellation,
): Promise<void> {
  const wantedMs = Math.max(PAUSE_MS * 2 ** (tries - 1), (retryAfterSeconds ?? 0) * 1000)
  await delay(Math.min(wantedMs, PAUSE_MS_MAX), undefined, { signal }).catch(() => {})
}

interface InterpretedCharge {
  /** What is not counted yet. */
  readonly added: NanoUsd
  /** Another answer under this id would be free, and only a broken one was paid for: it is not used again. */
  readonly isSpent: boolean
}

/**
 * What the charge that the ledger has under the id of a call means for it. An answer that was charged and got lost is had again under
 * the same id. Even what broke off before its first word, and cost nothing, stands in the ledger.
 */
export function interpretCharge(charge: FoundCharge | null, countedNanoUsd: NanoUsd): InterpretedCharge {
  if (charge === null) return { added: 0n, isSpent: false }
  const { costNanoUsd, outcome } = charge
  const added = costNanoUsd > countedNanoUsd ? costNanoUsd - countedNanoUsd : 0n
  return { added, isSpent: outcome !== 'completed' }
}

/** What a failed call is written down with. */
export function toCallError(error: unknown): AppError {
  if (error instanceof AppError) return error
  if (error instanceof Error && error.cause instanceof AppError) return error.cause
  return new AppError('internal_error', 'The gateway could not finish the call.', { cause: error })
}
