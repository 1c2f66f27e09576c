import { explainEngine, OUT_OF_MEMORY, withLines } from '../explain-engine.ts'
import type { InstanceFailure } from '../gpu-driver.ts'

/** How an engine ended. */
export interface EngineExit {
  readonly status: number | null
  readonly signal: string | null
  /** Why it could not be started at all. */
  readonly startProblem: string | null
  /** Why the keeper ended it: too much main memory, no health check answered, or not ready in time after a crash. */
  readonly endedFor: 'memory' | 'hang' | 'delay' | null
  /** It was ready before. */
  readonly wasReady: boolean
}

/** Why an engine ended, by how it did and what it said last. */
export function explainExit(exit: EngineExit, lastLines: readonly string[]): InstanceFailure {
  if (exit.startProblem !== null)
    return { code: 'engine_crashed', message: `The engine could not be started: ${exit.startProblem}.` }
  if (exit.endedFor === 'hang')
    return {
      code: 'engine_crashed',
      message: withLines('The engine answered no health check any more.', lastLines),
    }
  if (exit.endedFor === 'memory')
    return { code: OUT_OF_MEMORY.code, message: withLines(OUT_OF_MEMORY.message, lastLines) }
  const cause = explainEngine(lastLines)
  if (cause !== null) return cause
  // Nobody of ours sends it to an engine that loads: the system does when memory runs out.
  if (exit.signal === 'SIGKILL' && !exit.wasReady)
    return { code: 'out_of_memory', message: withLines('The system ended the engine (SIGKILL).', lastLines) }
  const how = exit.signal === null ? `status ${exit.status}` : exit.signal
  return { code: 'engine_crashed', message: withLines(`The engine ended unexpectedly (${how}).`, lastLines) }
}
