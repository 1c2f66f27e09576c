import { pino } from 'pino'
import type { Logger } from '../kernel/logger.ts'
import { formatAccessLine, type AccessLogEntry } from './access-log.ts'
import { createBufferedLines } from './buffered-lines.ts'
import { currentTimestamp } from './current-timestamp.ts'
import { describeError } from './describe-error.ts'
import { scrubSecrets } from './scrub-secrets.ts'
import { inspect } from 'node:util'

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export interface GatewayLogger extends Logger {
  debug(details: object, message: string): void
  /** Writes one line per request, at `info`. */
  logAccess(entry: AccessLogEntry): void
  /** Writes the buffered lines. Resolves when they are written. */
  flush(): Promise<void>
}

export interface LoggerOptions {
  readonly level: LogLevel
  /** A file or a file descriptor. Default: standard output. */
  readonly destination?: string | number
  /** Whether the access log contains prompts. */
  readonly logPrompts?: boolean
  /** Whether lines are formatted for people instead of as JSON. */
  readonly isPretty?: boolean
  readonly flushIntervalMs?: number
}

/**
 * Creates the logger. Errors and events are written by pino; access lines are formatted by hand, because there is one per
 * request.
 */
export function createLogger(options: LoggerOptions): GatewayLogger {
  const { level, destination = 1, logPrompts = false, isPretty = false, flushIntervalMs = 1_000 } = options
  const lines = createBufferedLines({ destination, flushIntervalMs })
  const finish = (line: string) => (isPretty ? formatForTerminal(scrubSecrets(line)) : scrubSecrets(line))
  const logger = pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: () => `,"time":"${currentTimestamp()}"`,
      serializers: { err: describeError },
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: finish },
    },
    lines,
  )
  const logsAccess = logger.isLevelEnabled('info')
  // Access lines contain no secrets, except that prompts may.
  const finishAccess = isPretty || logPrompts ? finish : (line: string) => line

  return {
    debug: (details, message) => logger.debug(details, message),
    info: (details, message) => logger.info(details, message),
    warn: (details, message) => logger.warn(details, message),
    error: (details, message) => logger.error(details, message),
    logAccess: (entry) => {
      if (logsAccess) lines.write(finishAccess(formatAccessLine(entry, logPrompts)))
    },
    flush: () => lines.flush(),
  }
}

/** Formats a log line for people: time, level, message, then the other fields as `name=value`. */
function formatForTerminal(line: string): string {
  const { time, level, msg, err, pid: _, ...details } = parseLine(line)
  const clock = asText(time).slice(11, 23)
  const rest = Object.entries(details).map(([name, value]) => `${name}=${formatValue(value)}`)
  const stack = isRecord(err) && typeof err['stack'] === 'string' ? `\n${err['stack']}` : ''
  return `${[clock, asText(level).toUpperCase().padEnd(5), asText(msg), ...rest].join(' ')}${stack}\n`
}

function parseLine(line: string): Record<string, unknown> {
  const parsed: unknown = JSON.parse(line)
  return isRecord(parsed) ? parsed : { msg: line }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function formatValue(value: unknown): string {
  return typeof value === 'string' && !/[\s"=]/.test(value)
    ? value
    : inspect(value, { breakLength: Infinity, depth: 4 })
}
