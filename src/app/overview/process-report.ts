import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { parseJson } from '../../kernel/json/parse-json.ts'

const Count = Type.Number({ minimum: 0 })
const Counts = Type.Array(Count, { maxItems: 64 })

/** What one process tells the others about itself. Small enough for one message of the bus. */
const ProcessReport = Type.Object({
  id: Type.String(),
  role: Type.Enum(['all', 'api', 'worker']),
  /** By the sender's monotonic clock, for rates. */
  atMs: Type.Number(),
  requests: Count,
  errors: Count,
  refused: Count,
  inFlight: Type.Number(),
  durations: Counts,
  promptTokens: Count,
  completionTokens: Count,
  /** Of the last minutes. */
  providers: Type.Array(
    Type.Object({ name: Type.String(), attempts: Count, failures: Count, durations: Counts }),
  ),
  /** Failed calls of the last minutes, the most frequent first. A process of an earlier release does not tell them. */
  failures: Type.Optional(
    Type.Array(
      Type.Object({
        provider: Type.String(),
        upstreamModel: Type.String(),
        model: Type.String(),
        accountId: Type.String(),
        failure: Type.String(),
        status: Type.Union([Type.Number(), Type.Null()]),
        code: Type.Union([Type.String(), Type.Null()]),
        isBreakerFailure: Type.Boolean(),
        calls: Count,
      }),
    ),
  ),
  /** Keys of providers with limits, in the last minute. A process of an earlier release does not tell them. */
  keys: Type.Optional(Type.Array(Type.Object({ id: Type.String(), requests: Count, tokens: Count }))),
  breakers: Type.Array(
    Type.Object({
      provider: Type.String(),
      model: Type.String(),
      state: Type.Enum(['closed', 'half-open', 'open']),
      accounts: Count,
    }),
  ),
  pool: Type.Object({ size: Count, inUse: Type.Number(), waiting: Count }),
  isLedgerHealthy: Type.Boolean(),
  /** Null for a process that works on no tasks. */
  worker: Type.Union([Type.Object({ isRunning: Type.Boolean(), slots: Count }), Type.Null()]),
  /** The part of the time in which the event loop was busy, 0 to 1. */
  busyShare: Count,
  disk: Type.Union([Type.Object({ freeBytes: Count, totalBytes: Count }), Type.Null()]),
})
export type ProcessReport = Static<typeof ProcessReport>

const validator = Compile(ProcessReport)

const TEXT_BYTES_MAX = 7 * 1024

/** Leaves the least busy providers and keys and then breakers out if the text would not fit into a message. */
export function encodeReport(report: ProcessReport): string {
  for (const most of [40, 10, 3, 0]) {
    const providers = report.providers.toSorted((a, b) => b.attempts - a.attempts).slice(0, most)
    const [breakers, failures] = [report.breakers.slice(0, most), report.failures?.slice(0, most)]
    const keys = report.keys?.toSorted((a, b) => b.requests - a.requests).slice(0, most)
    const text = JSON.stringify({ ...report, providers, breakers, failures, keys })
    if (Buffer.byteLength(text) <= TEXT_BYTES_MAX) return text
  }
  throw new Error('the report of a process is too large')
}

/** Returns null for the report of another release that this one cannot read. */
export function decodeReport(text: string): ProcessReport | null {
  try {
    const value = parseJson(text)
    return validator.Check(value) ? value : null
  } catch {
    return null
  }
}
