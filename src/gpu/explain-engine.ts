import type { FailureCode, InstanceFailure } from './gpu-driver.ts'

interface Cause {
  readonly code: FailureCode
  readonly pattern: RegExp
  readonly message: string
}

export const OUT_OF_MEMORY: Cause = {
  code: 'out_of_memory',
  pattern:
    /out ?of ?memory|\bOOM\b|bad_alloc|cannot allocate memory|unable to allocate|failed to allocate|No available memory for the cache blocks|larger than the maximum number of tokens that can be stored in KV cache|too large for the available|not enough VRAM/i,
  message: 'The model does not fit into the memory. Choose a larger tier or a shorter context.',
}

const CAUSES: readonly Cause[] = [
  OUT_OF_MEMORY,
  {
    code: 'model_gated',
    pattern:
      /gated repo|access to model .{0,200} is restricted|401 Client Error|403 Client Error|GatedRepoError/i,
    message: 'The model is gated. Its terms have to be accepted with the token that the engine has.',
  },
  {
    code: 'model_unsupported',
    pattern:
      /unknown (?:model )?architecture|architectures? .{0,200} (?:is|are) not supported|does not recognize this architecture|unsupported model|RepositoryNotFoundError|invalid (?:GGUF )?magic|not a (?:valid )?GGUF|the model could not be loaded/i,
    message: 'The engine does not support the model.',
  },
]

/** Finds the cause of an engine's exit in its last lines, for any engine. Returns null if no known pattern matches. */
export function explainEngine(lastLines: readonly string[]): InstanceFailure | null {
  const text = lastLines.join('\n')
  const cause = CAUSES.find(({ pattern }) => pattern.test(text))
  return cause === undefined ? null : { code: cause.code, message: withLines(cause.message, lastLines) }
}

const LINES_SHOWN = 5
const LINE_LENGTH_MAX = 300
/** A frame of a backtrace, as the C library prints it: `libx.so(symbol+0x1f)[0x7f1f]`. */
const FRAME = /\[0x[0-9a-f]{4,}\]$/

/** Adds the engine's last lines, without backtraces, to a message, cut to a bounded length. */
export function withLines(message: string, lastLines: readonly string[]): string {
  const shown = lastLines
    .filter((line) => !FRAME.test(line))
    .slice(-LINES_SHOWN)
    .map((line) => line.slice(0, LINE_LENGTH_MAX))
  return shown.length === 0 ? message : `${message} It said last: ${shown.join(' | ')}`
}
