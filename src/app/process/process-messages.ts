import { isRecord } from '../../kernel/is-record.ts'
import type { Exposition, MetricsSnapshot } from '../../telemetry/metrics.ts'
import type { Config } from '../settings/config.ts'

/** What a start comes to. */
export interface ReadyGateway {
  readonly url: string
  /** The key of the first account, when this start created it. */
  readonly bootstrapKey: string | null
  /** One that is served, for a first request. */
  readonly exampleModel: string
}

/** From the supervisor to a process. */
export type ProcessOrder =
  /** The configuration goes over whole, so that a process started later runs with the same one. */
  | { readonly order: 'start'; readonly config: Config; readonly connectionString: string }
  | { readonly order: 'snapshot'; readonly requestId: number }
  | { readonly order: 'metrics'; readonly requestId: number; readonly exposition: Exposition }

/** From a process to its supervisor. */
export type ProcessReport =
  | ({ readonly report: 'ready' } & ReadyGateway)
  | { readonly report: 'failed'; readonly reason: string }
  | { readonly report: 'snapshot'; readonly requestId: number; readonly snapshot: MetricsSnapshot }
  | { readonly report: 'metrics-wanted'; readonly requestId: number }

// Both ends are this program, so that a message has the shape its name says.
export function isReport(message: unknown): message is ProcessReport {
  return isRecord(message) && typeof message['report'] === 'string'
}

export function isOrder(message: unknown): message is ProcessOrder {
  return isRecord(message) && typeof message['order'] === 'string'
}
