import { wireId } from '../../wires/organization-ids.ts'
import type { Caller } from '../keys/keys.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import { TELEMETRY_SIGNALS, type TelemetrySignal } from './telemetry-signal.ts'
import type { ExportCounts } from './count-exports.ts'
import { findFault, type TelemetryExport } from './unpack-export.ts'

export {
  createExportCounts,
  sweepExportCounts,
  type ExportCounts,
  type PersonExports,
} from './count-exports.ts'
export { EXPORT_BYTES_MAX, typeOf } from './unpack-export.ts'

export { TELEMETRY_SIGNALS }

/** `kept back`: by the data retention of the account. `dropped`: too much waits for the collector. */
type TelemetryOutcome = 'received' | 'refused' | 'forwarded' | 'kept back' | 'dropped' | 'failed'

/** What agents export about themselves over OTLP. */
export interface AgentTelemetry {
  /** Returns what is wrong with the export, or null. Never waits for the collector, and never throws. */
  take(caller: Caller, signal: TelemetrySignal, sent: TelemetryExport): Promise<string | null>
}

interface AgentTelemetryOptions {
  readonly outbound: Pick<Outbound, 'fetch'>
  /** The operator's collector: its base address and the headers that it wants. Null: exports are counted and forgotten. */
  readonly collector: { readonly url: string; readonly headers: Readonly<Record<string, string>> } | null
  /** Then nothing more is forwarded. */
  readonly isClosing: () => boolean
  readonly count: (signal: TelemetrySignal, outcome: TelemetryOutcome) => void
  readonly exportCounts: Pick<ExportCounts, 'note'>
}

const WAITING_BYTES_MAX = 32 * 1024 * 1024
/** One account does not fill the queue of all. */
const ACCOUNT_WAITING_BYTES_MAX = 8 * 1024 * 1024
const AT_ONCE_MAX = 4
const TIMEOUT_MS = 10_000
const ANSWER_BYTES_MAX = 64 * 1024

interface Waiting {
  readonly caller: Caller
  readonly signal: TelemetrySignal
  readonly sent: TelemetryExport
}

export function createAgentTelemetry({
  outbound,
  collector,
  isClosing,
  count,
  exportCounts,
}: AgentTelemetryOptions): AgentTelemetry {
  const queue: Waiting[] = []
  const bytesOf = new Map<string, number>()
  let bytesOfAll = 0
  let running = 0

  const note = (accountId: string, bytes: number): void => {
    bytesOfAll += bytes
    const now = (bytesOf.get(accountId) ?? 0) + bytes
    if (now === 0) bytesOf.delete(accountId)
    else bytesOf.set(accountId, now)
  }

  const send = async (
    { caller, signal, sent }: Waiting,
    to: NonNullable<typeof collector>,
  ): Promise<void> => {
    const url = new URL(to.url)
    const answer = await outbound.fetch({
      url: `${to.url.replace(/\/+$/, '')}/v1/${signal}`,
      method: 'POST',
      headers: {
        'content-type': sent.contentType ?? 'application/x-protobuf',
        ...(sent.contentEncoding === undefined ? {} : { 'content-encoding': sent.contentEncoding }),
        ...describeSender(caller),
        ...to.headers,
      },
      body: sent.body,
      bytesMax: ANSWER_BYTES_MAX,
      timeoutMs: TIMEOUT_MS,
      trustedHosts: [url.host],
    })
    answer.discard()
    count(signal, answer.status >= 200 && answer.status < 300 ? 'forwarded' : 'failed')
  }

  const work = (): void => {
    if (collector === null) return
    while (!isClosing() && running < AT_ONCE_MAX) {
      const next = queue.shift()
      if (next === undefined) return
      running += 1
      void send(next, collector)
        .catch(() => count(next.signal, 'failed'))
        .finally(() => {
          running -= 1
          note(next.caller.accountId, -next.sent.body.length)
          work()
        })
    }
  }

  return {
    take: async (caller, signal, sent) => {
      const fault = await findFault(sent)
      count(signal, fault === null ? 'received' : 'refused')
      exportCounts.note(caller, { signal: fault === null ? signal : 'refused', bytes: sent.bytes })
      if (fault !== null || collector === null || isClosing()) return fault
      const bytes = sent.body.length
      const { accountId } = caller
      if (caller.isZeroRetention === true && signal !== 'metrics') count(signal, 'kept back')
      else if (
        bytesOfAll + bytes > WAITING_BYTES_MAX ||
        (bytesOf.get(accountId) ?? 0) + bytes > ACCOUNT_WAITING_BYTES_MAX
      )
        count(signal, 'dropped')
      else {
        note(accountId, bytes)
        queue.push({ caller, signal, sent })
        work()
      }
      return null
    },
  }
}

/** Who sent it, by the key and not by what the export says. The key itself stays here. */
function describeSender({ accountId, projectId, userId, serviceAccountId }: Caller): Record<string, string> {
  return {
    'x-parkway-account': wireId('organization', accountId),
    ...(projectId === null ? {} : { 'x-parkway-project': wireId('project', projectId) }),
    ...(typeof userId === 'string' ? { 'x-parkway-user': wireId('user', userId) } : {}),
    ...(typeof serviceAccountId === 'string'
      ? { 'x-parkway-service-account': wireId('serviceAccount', serviceAccountId) }
      : {}),
  }
}
