import { readDirectiveOptions, type DirectiveOptions } from './directive-options.ts'
import { readJobDirective, type JobFault } from '../faults/job-faults.ts'

/** Instructions to the sandbox, written as `[[sandbox:<name> <options>]]` in the last user message. */
export interface Directives {
  readonly fault: ScheduledFault | null
  readonly latencyMs: number
  readonly isUsageHidden: boolean
  readonly echoText: string | null
  readonly tokenCount: number | null
  readonly tokensPerSecond: number | null
  /** Duration of work that runs as a job. If set, work that would be done immediately becomes a job too. */
  readonly jobDurationMs: number | null
  readonly jobFault: JobFault | null
}

export type Fault =
  | { kind: 'error'; status: number; retryAfterSeconds: number | null; code: string | null }
  | { kind: 'refuse' }
  | { kind: 'html'; status: number | null }
  | { kind: 'empty' }
  | { kind: 'endless' }
  | { kind: 'huge-line'; sizeBytes: number }
  /** Null means before the first chunk. */
  | { kind: 'hang' | 'cut' | 'end' | 'garbage' | 'error-body'; afterChunks: number | null }

export type ScheduledFault = Fault & {
  /** Number of attempts that fail before one succeeds. Null means that all fail. */
  readonly attemptsMax: number | null
  /** Key by which attempts are counted. Null counts by request id. */
  readonly attemptKey: string | null
}

const OPENING = '[[sandbox:'
const CLOSING = ']]'
const DIRECTIVES_MAX = 16
const NONE: Directives = {
  fault: null,
  latencyMs: 0,
  isUsageHidden: false,
  echoText: null,
  tokenCount: null,
  tokensPerSecond: null,
  jobDurationMs: null,
  jobFault: null,
}

/** Removes the directives from a text. Unknown and malformed directives have no effect, but are removed too. */
export function parseDirectives(text: string): { directives: Directives; remainingText: string } {
  let directives = NONE
  let remainingText = ''
  let position = 0
  for (let count = 0; count < DIRECTIVES_MAX; count += 1) {
    const start = text.indexOf(OPENING, position)
    const end = start === -1 ? -1 : text.indexOf(CLOSING, start)
    if (end === -1) break
    remainingText += text.slice(position, start)
    directives = { ...directives, ...readDirective(text.slice(start + OPENING.length, end), directives) }
    position = end + CLOSING.length
  }
  return { directives, remainingText: remainingText + text.slice(position) }
}

function readDirective(source: string, soFar: Directives): Partial<Directives> {
  const [, name = '', argumentText = ''] = /^\s*([a-z-]+)(?:\s+([^]*))?$/.exec(source) ?? []
  if (name === 'echo') return { echoText: argumentText.trimEnd() }
  if (name === 'usage') return argumentText.trim() === 'none' ? { isUsageHidden: true } : {}

  const options = readDirectiveOptions(argumentText)
  if (options === null) return {}
  const change =
    SETTINGS.get(name)?.(options) ?? readJobDirective(name, options) ?? readFault(name, options, soFar)
  return change !== null && options.areAllRead() ? change : {}
}

/** Returns null for a malformed directive. */
type SettingReader = (options: DirectiveOptions) => Partial<Directives> | null

const SETTINGS = new Map(
  Object.entries<SettingReader>({
    latency: (options) => withInteger(options.integer('ms', 0, 600_000), (latencyMs) => ({ latencyMs })),
    tokens: (options) => withInteger(options.integer('n', 1, 100_000), (tokenCount) => ({ tokenCount })),
    pace: (options) =>
      withInteger(options.integer('tps', 1, 100_000), (tokensPerSecond) => ({ tokensPerSecond })),
  }),
)

function withInteger(
  value: number | null,
  change: (value: number) => Partial<Directives>,
): Partial<Directives> | null {
  return value === null ? null : change(value)
}

// Only the first fault is used, because a request can fail in only one way.
function readFault(name: string, options: DirectiveOptions, soFar: Directives): Partial<Directives> | null {
  const fault = FAULTS.get(name)?.(options) ?? null
  if (fault === null || soFar.fault !== null) return null
  const attemptsMax = options.integer('times', 1, 100)
  return { fault: { ...fault, attemptsMax, attemptKey: options.word('key') } }
}

const AFTER_CHUNKS_MAX = 100_000
const HUGE_LINE_BYTES = 10 * 1024 * 1024

const afterChunks =
  (kind: 'hang' | 'cut' | 'end' | 'garbage' | 'error-body') => (options: DirectiveOptions) => ({
    kind,
    afterChunks: options.integer('after', 0, AFTER_CHUNKS_MAX),
  })

type FaultReader = (options: DirectiveOptions) => Fault | null

const FAULTS = new Map(
  Object.entries<FaultReader>({
    error: (options) => {
      const status = options.integer('status', 400, 599)
      if (status === null) return null
      return {
        kind: 'error',
        status,
        retryAfterSeconds: options.integer('retry_after', 0, 3600),
        code: options.word('code'),
      }
    },
    refuse: () => ({ kind: 'refuse' }),
    html: (options) => ({ kind: 'html', status: options.integer('status', 400, 599) }),
    empty: () => ({ kind: 'empty' }),
    endless: () => ({ kind: 'endless' }),
    'huge-line': (options) => ({
      kind: 'huge-line',
      sizeBytes: options.integer('bytes', 1, 4 * HUGE_LINE_BYTES) ?? HUGE_LINE_BYTES,
    }),
    hang: afterChunks('hang'),
    cut: afterChunks('cut'),
    end: afterChunks('end'),
    garbage: afterChunks('garbage'),
    'error-body': afterChunks('error-body'),
  }),
)
