import { inspect } from 'node:util'

/** A log line for people: time, level, message, then the rest as `name=value`. */
export function formatForTerminal(line: string): string {
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
