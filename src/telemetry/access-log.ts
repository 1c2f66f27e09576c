import { currentTimestamp } from './current-timestamp.ts'
import type { TokenCounts } from './token-counts.ts'

/** One answered request in the log. Contains prompts only if the operator has enabled them. */
export interface AccessLogEntry {
  readonly requestId: string
  /** The client's own id. */
  readonly clientRequestId?: string | undefined
  /** Undefined for calls that were not made by a client's request. */
  readonly method?: string | undefined
  /** The route pattern with parameters as `:id`, so that no client input is logged. */
  readonly route: string
  readonly status: number
  readonly durationMs: number
  readonly firstTokenMs?: number | undefined
  readonly clientAddress?: string | undefined
  readonly accountId?: string | undefined
  readonly keyId?: string | undefined
  readonly model?: string | undefined
  readonly provider?: string | undefined
  /** Number of upstream calls. */
  readonly attempts?: number | undefined
  readonly tokens?: TokenCounts | undefined
  readonly requestBytes?: number | undefined
  readonly errorCode?: string | undefined
  /** Whether the client disconnected before the answer was complete. */
  readonly isAborted?: boolean | undefined
  /** The prompt. Ignored unless the logger was created with `logPrompts`. */
  readonly prompt?: unknown
}

/** Formats one JSON line. Built by hand, because it is written for every request and pino takes several times as long. */
export function formatAccessLine(entry: AccessLogEntry, logPrompts: boolean): string {
  const { tokens, firstTokenMs, model, provider } = entry
  // Only the names of models and providers come from the operator and need escaping.
  return (
    `${LINE_START}"time":"${currentTimestamp()}","request_id":"${entry.requestId}"` +
    (entry.clientRequestId === undefined ? '' : `,"client_request_id":"${entry.clientRequestId}"`) +
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
