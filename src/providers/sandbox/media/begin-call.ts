import type { Cancellation } from '../../../kernel/cancellation.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { UpstreamTimeouts } from '../../provider.ts'
import { parseDirectives, type Directives, type Fault } from '../request/directives.ts'
import type { FaultAttempts } from '../faults/fault-attempts.ts'
import { delayAnswer, failAtOnce, type FaultContext } from '../faults/inject-fault.ts'
import type { Sleep } from '../sleep.ts'

/** The parts that all operations of one sandbox share. */
export interface SandboxParts {
  readonly clock: Clock
  readonly sleep: Sleep
  readonly faultAttempts: FaultAttempts
  /** Duration of work that runs as a job, unless a directive sets it. */
  readonly jobDurationMs: number
}

export interface CallContext {
  readonly requestId: string
  readonly timeouts: UpstreamTimeouts
  readonly cancellation: Cancellation
}

export interface BegunCall {
  /** The text without its directives. */
  readonly text: string
  readonly directives: Directives
  /** The fault that the answer still has to simulate. */
  readonly fault: Fault | null
  readonly faultContext: FaultContext
}

/** Applies the latency and the immediate faults of the directives before any work is done. */
export async function beginCall(parts: SandboxParts, text: string, call: CallContext): Promise<BegunCall> {
  const { signal } = call.cancellation
  signal.throwIfAborted()
  const { directives, remainingText } = parseDirectives(text)
  const scheduled = directives.fault
  const fault = scheduled !== null && parts.faultAttempts.isDue(scheduled, call.requestId) ? scheduled : null
  const faultContext = { timeouts: call.timeouts, sleep: parts.sleep, signal }
  await delayAnswer(directives.latencyMs, faultContext)
  if (fault) await failAtOnce(fault, faultContext)
  return { text: remainingText.trim(), directives, fault, faultContext }
}
