import { formatUsd } from '../output/format-usd.ts'
import { printableInLine } from '../output/printable.ts'
import type { Column } from '../output/tables/print-table.ts'
import type { LogEntry } from './read-log.ts'
import { formatNumber } from '../output/format-number.ts'

/** The columns of a list of requests. */
export function logColumns(isOfAll: boolean): Column<LogEntry>[] {
  return [
    { title: 'request', of: ({ request_id: id }) => id, isId: true },
    { title: 'when', of: (entry) => entry.created_at, isTime: true, rank: 3 },
    { title: 'status', of: describeStatus, rank: 1 },
    ...(isOfAll
      ? [{ title: 'account', of: (entry: LogEntry) => entry.account_name ?? '-', rank: 3, isText: true }]
      : []),
    { title: 'operation', of: ({ operation }) => operation, rank: 6, isText: true },
    { title: 'model', of: (entry) => entry.model ?? entry.requested_model ?? '-', rank: 2, isText: true },
    { title: 'provider', of: ({ provider }) => provider ?? '-', rank: 8, isText: true },
    { title: 'took', of: (entry) => formatMs(entry.latency_ms), isNumber: true, rank: 4 },
    { title: 'tokens', of: describeTokens, isNumber: true, rank: 7 },
    { title: 'cost', of: (entry) => formatUsd(entry.cost_usd), isNumber: true, rank: 4 },
    { title: 'key', of: (entry) => entry.key_name ?? entry.key_id, rank: 9, isText: true },
    { title: 'error', of: (entry) => entry.error_code ?? '-', rank: 5, isText: true },
  ]
}

/** One line of a log that is followed. Rows come one by one, so that their columns have fixed widths, and texts of clients make no line. */
export function describeEntry(entry: LogEntry, isOfAll: boolean): string {
  return [
    entry.created_at,
    describeStatus(entry).padEnd(12),
    printableInLine(entry.operation).padEnd(10),
    printableInLine(entry.model ?? entry.requested_model ?? '-').padEnd(24),
    formatMs(entry.latency_ms).padStart(8),
    formatUsd(entry.cost_usd).padStart(9),
    entry.request_id,
    ...(isOfAll ? [printableInLine(entry.account_name ?? '-')] : []),
    ...(entry.error_code === null
      ? []
      : [
          printableInLine([entry.error_code, entry.error_message].filter((part) => part !== null).join(': ')),
        ]),
  ].join('  ')
}

/** The status of HTTP. A stream that failed in the middle has 200. */
export function describeStatus({ http_status: status, outcome }: LogEntry): string {
  if (status === null) return outcome
  return outcome === 'failed' && status < 400 ? `${status} failed` : String(status)
}

function describeTokens({ prompt_tokens: input, completion_tokens: output }: LogEntry): string {
  return input + output === 0 ? '-' : `${input}+${output}`
}

/** Formats a duration with the digits that matter: `480 ms`, `1.24 s`, `75 s`. */
export function formatMs(ms: number): string {
  if (ms < 1_000) return `${ms} ms`
  return ms < 10_000
    ? `${formatNumber(ms / 1_000, 2)} s`
    : `${formatNumber(ms / 1_000, ms < 60_000 ? 1 : 0)} s`
}
