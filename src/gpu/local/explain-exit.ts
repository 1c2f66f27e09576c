import { explainEngine, OUT_OF_MEMORY, withLines } from '../explain-engine.ts'
import type { InstanceFailure } from '../gpu-driver.ts'

/** How an engine ended. */
export interface EngineExit {
  readonly status: number | null
  readonly signal: string | null
  /** Why the engine could not be started, or null. */
  readonly startProblem: string | null
  /** Why the keeper ended it: too much main memory, no health check answered, not ready in time after a restart; else null. */
  readonly endedFor: 'memory' | 'hang' | 'delay' | null
  /** Whether the engine became ready before it ended. */
  readonly wasReady: boolean
}

/** Explains why an engine ended, from its exit and its last lines. */
export function explainExit(exit: EngineExit, lastLines: readonly string[]): InstanceFailure {
  if (exit.startProblem !== null)
    return { code: 'engine_crashed', message: `The engine could not be started: ${exit.startProblem}.` }
  if (exit.endedFor === 'hang')
    return {
      code: 'engine_crashed',
      message: withLines('The engine answered no health check any more.', lastLines),
    }
  if (exit.endedFor === 'delay')
    return {
      code: 'engine_crashed',
      message: withLines('The engine was started again after a crash and was not ready in time.', lastLines),
    }
  if (exit.endedFor === 'memory')
    return { code: OUT_OF_MEMORY.code, message: withLines(OUT_OF_MEMORY.message, lastLines) }
  const cause = explainEngine(lastLines)
  if (cause !== null) return cause
  // Most likely the kernel's OOM killer.
  if (exit.signal === 'SIGKILL' && !exit.wasReady)
    return { code: 'out_of_memory', message: withLines('The system ended the engine (SIGKILL).', lastLines) }
  const how = exit.signal === null ? `status ${exit.status}` : exit.signal
  return { code: 'engine_crashed', message: withLines(`The engine ended unexpectedly (${how}).`, lastLines) }
}
