import { isRecord } from '../kernel/is-record.ts'
import type { Exposition, MetricsSnapshot } from '../telemetry/metrics.ts'

/** From the supervisor to a process. */
export type ProcessOrder =
  | { readonly order: 'snapshot'; readonly requestId: number }
  | { readonly order: 'metrics'; readonly requestId: number; readonly exposition: Exposition }

/** From a process to its supervisor. */
export type ProcessReport =
  | { readonly report: 'ready'; readonly url: string; readonly bootstrapKey: string | null }
  | { readonly report: 'snapshot'; readonly requestId: number; readonly snapshot: MetricsSnapshot }
  | { readonly report: 'metrics-wanted'; readonly requestId: number }

type ReportOf<Name extends ProcessReport['report']> = Extract<ProcessReport, { report: Name }>

// Both ends are this program, so the name of a message is proof enough of its shape.
export function isReadyMessage(message: unknown): message is ReportOf<'ready'> {
  return isRecord(message) && message['report'] === 'ready'
}

export function isSnapshotMessage(message: unknown): message is ReportOf<'snapshot'> {
  return isRecord(message) && message['report'] === 'snapshot'
}

export function isSnapshotRequest(message: unknown): message is ReportOf<'metrics-wanted'> {
  return isRecord(message) && message['report'] === 'metrics-wanted'
}

export function isOrder(message: unknown): message is ProcessOrder {
  return isRecord(message) && (message['order'] === 'snapshot' || message['order'] === 'metrics')
}
