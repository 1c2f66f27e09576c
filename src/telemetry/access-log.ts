import { currentTimestamp } from './current-timestamp.ts'
import type { TokenCounts } from './token-counts.ts'

/** One answered request, as the operator reads it. Prompts are in it only where the operator asked for them. */
export interface AccessLogEntry {
  readonly requestId: string
  /** Of calls that no request of a client is for there is none. */
  readonly method?: string | undefined
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
  readonly errorCode?: string | undefined
  /** The client left before the answer was complete. */
  readonly isAborted?: boolean | undefined
  /** What was asked, dropped unless the logger was made with `logPrompts`. */
  readonly prompt?: unknown
}

/** One JSON line. Put together by hand: it is written for every request, and pino takes several times as long. */
export function formatAccessLine(entry: AccessLogEntry, logPrompts: boolean): string {
  const { tokens, firstTokenMs, model, provider } = entry
  // Names of models and providers are the operator's text; everything else in the line is ours and needs no escaping.
  return (
    `${LINE_START}"time":"${currentTimestamp()}","request_id":"${entry.requestId}"` +
    (entry.method === undefined ? '' : `,"method":"${entry.method}"`) +
    `,"route":"${entry.route}","status":${entry.status},"duration_ms":${roundMs(entry.durationMs)}` +
    (firstTokenMs === undefined ? '' : `,"first_token_ms":${roundMs(firstTokenMs)}`) +
    (entry.clientAddress === undefined ? '' : `,"client_address":"${entry.clientAddress}"`) +
    (entry.keyId === undefined ? '' : `,"account_id":"${entry.accountId}","key_id":"${entry.keyId}"`) +
    (model === undefined ? '' : `,"model":${JSON.stringify(model)}`) +
    (provider === undefined ? '' : `,"provider":${JSON.stringify(provider)}`) +
    (entry.attempts === undefined ? '' : `,"attempts":${entry.attempts}`) +
    (tokens === undefined ? '' : formatTokens(tokens)) +
    (entry.requestBytes === undefined ? '' : `,"request_bytes":${entry.requestBytes}`) +
    (entry.errorCode === undefined ? '' : `,"error_code":"${entry.errorCode}"`) +
    (entry.isAborted === true ? ',"aborted":true' : '') +
    (logPrompts && entry.prompt !== undefined ? `,"prompt":${JSON.stringify(entry.prompt)}` : '') +
    ',"msg":"request"}\n'
  )
}

const LINE_START = `{"level":"info","pid":${process.pid},`

function formatTokens({ prompt, completion, cached, cacheWrite, reasoning }: TokenCounts): string {
  return (
    `,"prompt_tokens":${prompt},"completion_tokens":${completion}` +
    (cached === undefined ? '' : `,"cached_tokens":${cached}`) +
    (cacheWrite === undefined ? '' : `,"cache_write_tokens":${cacheWrite}`) +
    (reasoning === undefined ? '' : `,"reasoning_tokens":${reasoning}`)
  )
}

function roundMs(milliseconds: number): number {
  return Math.round(milliseconds * 1e3) / 1e3
}
