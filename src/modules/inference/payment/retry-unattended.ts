import { setTimeout as delay } from 'node:timers/promises'
import { AppError, type ErrorCode } from '../../../kernel/app-error.ts'
import type { Cancellation } from '../../../kernel/cancellation.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { FoundCharge } from '../../ledger/ledger.ts'

/** Maximum number of tries of a call that no client waits for. */
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

/** Whether the same call may succeed later. */
export function mayPass({ code }: AppError): boolean {
  return PASSING.has(code)
}

/** Waits before the next try. Resolves early, without an error, when it is cancelled. */
export async function pauseBeforeTry(
  tries: number,
  { retryAfterSeconds }: AppError,
  { signal }: Cancellation,
): Promise<void> {
  const wantedMs = Math.max(PAUSE_MS * 2 ** (tries - 1), (retryAfterSeconds ?? 0) * 1000)
  await delay(Math.min(wantedMs, PAUSE_MS_MAX), undefined, { signal }).catch(() => {})
}

interface InterpretedCharge {
  /** The part of the charge that is not counted yet. */
  readonly added: NanoUsd
  /** Whether the id must not be used again: only an incomplete answer was charged under it, and another one would be free. */
  readonly isSpent: boolean
}

/**
 * Interprets the ledger's charge under the id of a call. A completed answer that was charged and then lost is requested again
 * under the same id. The ledger also has a record of answers that failed before their first token and cost nothing.
 */
export function interpretCharge(charge: FoundCharge | null, countedNanoUsd: NanoUsd): InterpretedCharge {
  if (charge === null) return { added: 0n, isSpent: false }
  const { costNanoUsd, outcome } = charge
  const added = costNanoUsd > countedNanoUsd ? costNanoUsd - countedNanoUsd : 0n
  return { added, isSpent: outcome !== 'completed' }
}

/** Returns the error to store for a failed call. */
export function toCallError(error: unknown): AppError {
  if (error instanceof AppError) return error
  if (error instanceof Error && error.cause instanceof AppError) return error.cause
  return new AppError('internal_error', 'The gateway could not finish the call.', { cause: error })
}
