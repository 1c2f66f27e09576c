import type { FailureCode, InstanceFailure } from '../gpu-driver.ts'

/** How an engine ended. */
export interface EngineExit {
  readonly status: number | null
  readonly signal: string | null
  /** Why it could not be started at all. */
  readonly startProblem: string | null
  /** It took more main memory than its tier allows. */
  readonly tookTooMuch: boolean
  /** It was ready before. */
  readonly wasReady: boolean
}

const CAUSES: readonly (readonly [FailureCode, RegExp, string])[] = [
  [
    'out_of_memory',
    /out ?of ?memory|\bOOM\b|bad_alloc|cannot allocate memory|unable to allocate|failed to allocate|No available memory for the cache blocks|larger than the maximum number of tokens that can be stored in KV cache/i,
    'The model does not fit into the memory. Choose a larger tier or a shorter context.',
  ],
  [
    'model_gated',
    /gated repo|access to model .{0,200} is restricted|401 Client Error|403 Client Error|GatedRepoError/i,
    'The model is gated. Its terms have to be accepted with the token that the engine has.',
  ],
  [
    'model_unsupported',
    /unknown (?:model )?architecture|architectures? .{0,200} (?:is|are) not supported|does not recognize this architecture|unsupported model|RepositoryNotFoundError|invalid magic|not a (?:valid )?GGUF/i,
    'The engine does not support the model.',
  ],
]

const LINES_SHOWN = 5
const LINE_LENGTH_MAX = 300

/** Why an engine ended, by how it did and what it said last. */
export function explainExit(exit: EngineExit, lastLines: readonly string[]): InstanceFailure {
  if (exit.startProblem !== null)
    return { code: 'engine_crashed', message: `The engine could not be started: ${exit.startProblem}.` }
  const [outOfMemory] = CAUSES
  const text = lastLines.join('\n')
  const cause = exit.tookTooMuch ? outOfMemory : CAUSES.find(([, pattern]) => pattern.test(text))
  if (cause !== undefined) return { code: cause[0], message: withLines(cause[2], lastLines) }
  // Nobody of ours sends it to an engine that loads: the system does when memory runs out.
  if (exit.signal === 'SIGKILL' && !exit.wasReady)
    return { code: 'out_of_memory', message: withLines('The system ended the engine (SIGKILL).', lastLines) }
  const how = exit.signal === null ? `status ${exit.status}` : exit.signal
  return { code: 'engine_crashed', message: withLines(`The engine ended unexpectedly (${how}).`, lastLines) }
}

function withLines(message: string, lastLines: readonly string[]): string {
  const shown = lastLines.slice(-LINES_SHOWN).map((line) => line.slice(0, LINE_LENGTH_MAX))
  return shown.length === 0 ? message : `${message} It said last: ${shown.join(' | ')}`
}
