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
  /** One line a request, at `info`. */
  logAccess(entry: AccessLogEntry): void
  /** Writes out what is buffered; resolves when it is written. */
  flush(): Promise<void>
}

export interface LoggerOptions {
  readonly level: LogLevel
  /** A file or a file descriptor; standard output unless told. */
  readonly destination?: string | number
  /** Prompts in the access log, where the caller passes them. */
  readonly logPrompts?: boolean
  /** Lines for people instead of JSON. */
  readonly isPretty?: boolean
  readonly flushIntervalMs?: number
}

/** Errors and events go through pino; the access line is written out by hand, because it is there for every request. */
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
  // The fields of an access line are ours and hold no secret; only prompts are somebody else's text.
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

/** A log line for people: time, level, message, then the rest as `name=value`. */
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
