import { currentTimestamp } from './current-timestamp.ts'
import type { TokenCounts } from './token-counts.ts'

/** One answered request, as the operator reads it. Prompts are in it only where the operator asked for them. */
export interface AccessLogEntry {
  readonly requestId: string
  readonly method: string
  /** The path with its parameters as `:id`, so that nothing a client put into the address is logged. */
  readonly route: string
  readonly status: number
  readonly durationMs: number
  readonly firstTokenMs?: number | undefined
  readonly clientAddress?: string | undefined
  readonly accountId?: string | undefined
  readonly keyId?: string | undefined
  readonly model?: string | undefined
  readonly provider?: string | undefined
  /** How many upstream calls it took. */
  readonly attempts?: number | undefined
  readonly tokens?: TokenCounts | undefined
  readonly requestBytes?: number | undefined
  readonly responseBytes?: number | undefined
  readonly errorCode?: string | undefined
  /** The client left before the answer was complete. */
  readonly isAborted?: boolean | undefined
  /** What was asked, dropped unless the logger was made with `logPrompts`. */
  readonly prompt?: unknown
}

/** One JSON line. Put together by hand: it is written for every request, and pino takes several times as long. */
export function formatAccessLine(entry: AccessLogEntry, logPrompts: boolean): string {
  const { tokens } = entry
  return (
    LINE_START +
    `"time":"${currentTimestamp()}","request_id":${quote(entry.requestId)},"method":${quote(entry.method)}` +
    `,"route":${quote(entry.route)},"status":${entry.status},"duration_ms":${roundMs(entry.durationMs)}` +
    numberField(
      'first_token_ms',
      entry.firstTokenMs === undefined ? undefined : roundMs(entry.firstTokenMs),
    ) +
    textField('client_address', entry.clientAddress) +
    textField('account_id', entry.accountId) +
    textField('key_id', entry.keyId) +
    textField('model', entry.model) +
    textField('provider', entry.provider) +
    numberField('attempts', entry.attempts) +
    numberField('prompt_tokens', tokens?.prompt) +
    numberField('completion_tokens', tokens?.completion) +
    numberField('cached_tokens', tokens?.cached) +
    numberField('reasoning_tokens', tokens?.reasoning) +
    numberField('request_bytes', entry.requestBytes) +
    numberField('response_bytes', entry.responseBytes) +
    textField('error_code', entry.errorCode) +
    (entry.isAborted === true ? ',"aborted":true' : '') +
    (logPrompts && entry.prompt !== undefined ? `,"prompt":${JSON.stringify(entry.prompt)}` : '') +
    ',"msg":"request"}\n'
  )
}

const LINE_START = `{"level":"info","pid":${process.pid},`

function textField(name: string, value: string | undefined): string {
  return value === undefined ? '' : `,"${name}":${quote(value)}`
}

function numberField(name: string, value: number | undefined): string {
  return value === undefined ? '' : `,"${name}":${value}`
}

// What holds only these needs no escaping; ids, routes and most model names do.
const PLAIN = /^[\w.:/@ -]*$/

function quote(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)
}

function roundMs(milliseconds: number): number {
  return Math.round(milliseconds * 1e3) / 1e3
}
