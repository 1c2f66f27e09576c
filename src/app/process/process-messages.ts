import { isRecord } from '../../kernel/is-record.ts'
import type { Exposition, MetricsSnapshot } from '../../telemetry/metrics.ts'
import type { Config } from '../settings/config.ts'

/** The key of the first account. It is told when it is created, because a start may take longer or fail after that. */
export interface FirstKey {
  readonly bootstrapKey: string
  /** Signs in to the console once. Null for a key that the operator chose. */
  readonly signInCode: string | null
}

/** The result of a start. */
export interface ReadyGateway {
  readonly url: string
  /** The key of the first account, if this start created it. */
  readonly bootstrapKey: string | null
  /** Signs in to the console once. Only if this start created the first account and its key. */
  readonly signInCode: string | null
  /** A served model for a first request. */
  readonly exampleModel: string
}

/** Messages from the supervisor to a process. */
export type ProcessOrder =
  /** Contains the complete configuration, so that a process started later uses the same. */
  | { readonly order: 'start'; readonly config: Config; readonly connectionString: string }
  | { readonly order: 'snapshot'; readonly requestId: number }
  | { readonly order: 'metrics'; readonly requestId: number; readonly exposition: Exposition }

/** Messages from a process to its supervisor. */
export type ProcessReport =
  /** Sent regularly while the process starts. */
  | { readonly report: 'starting' }
  | ({ readonly report: 'first-key' } & FirstKey)
  | ({ readonly report: 'ready' } & ReadyGateway)
  | { readonly report: 'failed'; readonly reason: string }
  | { readonly report: 'snapshot'; readonly requestId: number; readonly snapshot: MetricsSnapshot }
  | { readonly report: 'metrics-wanted'; readonly requestId: number }

// Both ends are the same program, so the name of a message determines its shape.
export function isReport(message: unknown): message is ProcessReport {
  return isRecord(message) && typeof message['report'] === 'string'
}

export function isOrder(message: unknown): message is ProcessOrder {
  return isRecord(message) && typeof message['order'] === 'string'
}
