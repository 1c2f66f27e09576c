import type { Cancellation } from '../../kernel/cancellation.ts'
import type { MediaWork } from '../../providers/media-work.ts'
import type { InferenceRecord } from '../inference/inference.ts'
import type { Caller } from '../keys/keys.ts'
import type { Task, TaskType } from '../tasks/tasks.ts'

/** What a client asked for, checked as far as that is possible without the model. */
export interface GenerationRequest {
  readonly type: GenerationType
  /** Null takes the first model of the kind. */
  readonly model: string | null
  readonly work: MediaWork<ClientFile>
  /** Of an answer that is waited for; tasks have addresses. Null leaves it to the model. */
  readonly responseFormat: 'url' | 'b64_json' | null
  readonly preference: DeliveryPreference
  /** Where the client reaches the gateway, for addresses where nothing else is configured. */
  readonly baseUrl: string
  readonly webhookUrl: string | null
  readonly metadata: Readonly<Record<string, unknown>> | null
  readonly caller: Caller
  readonly requestId: string
  readonly record: InferenceRecord
  readonly cancellation: Cancellation
}

export type GenerationType = Exclude<TaskType, 'stt' | 'response'>

/** A file as it came. `param` names its field in errors. */
export type ClientFile = { readonly param: string } & (
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'stream'; open(): AsyncIterable<Uint8Array> }
  | { readonly kind: 'address'; readonly url: string }
)

/** The `Prefer` header. */
export interface DeliveryPreference {
  readonly isAsyncWanted: boolean
  /** How long the answer may be held for a task to end; null is not at all. */
  readonly waitSeconds: number | null
  /** The client did not ask for the wait, and does not expect a task. */
  readonly isWaitByDefault?: true
}

export type GenerationResult =
  | { readonly kind: 'done'; readonly answer: GenerationAnswer }
  | { readonly kind: 'task'; readonly task: Task }

export interface GenerationAnswer {
  readonly created: number
  readonly data: readonly AnswerItem[]
  readonly usage: Readonly<Record<string, number>>
}

export interface AnswerItem {
  readonly url?: string
  readonly b64_json?: string
  readonly revised_prompt?: string
}
