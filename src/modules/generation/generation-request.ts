import type { Cancellation } from '../../kernel/cancellation.ts'
import type { MediaWork } from '../../providers/media/media-work.ts'
import type { InferenceRecord, InferenceRequest } from '../inference/inference.ts'
import type { Caller } from '../keys/keys.ts'
import type { Task, TaskType } from '../tasks/tasks.ts'

/** A client's request, validated as far as possible without the model. */
export interface GenerationRequest {
  readonly type: GenerationType
  /** Null selects the first model of the category. */
  readonly model: string | null
  readonly work: MediaWork<ClientFile>
  /** For a synchronous response; tasks always return URLs. Null leaves the choice to the model. */
  readonly responseFormat: 'url' | 'b64_json' | null
  readonly preference: DeliveryPreference
  /** The gateway's address as the client sees it, for URLs if no public address is configured. Undefined: its own. */
  readonly baseUrl: string | undefined
  readonly webhookUrl: string | null
  readonly metadata: Readonly<Record<string, unknown>> | null
  readonly caller: Caller
  readonly requestId: string
  readonly record: InferenceRecord
  readonly cancellation: Cancellation
  /** Set for a line of a batch. It is answered and no task, however long the model takes. */
  readonly line?: BatchLine
}

type BatchLine = Pick<InferenceRequest<unknown>, 'batchWay' | 'isMadeAnew'>

export type GenerationType = Exclude<TaskType, 'stt' | 'response'>

/** A client's file before it is stored. `param` names its field in errors. */
export type ClientFile = { readonly param: string } & (
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'stream'; open(): AsyncIterable<Uint8Array> }
  | { readonly kind: 'address'; readonly url: string }
  /** A file that the client uploaded before. */
  | { readonly kind: 'uploaded'; readonly fileId: string }
)

/** The `Prefer` header. */
export interface DeliveryPreference {
  readonly isAsyncWanted: boolean
  /** How long the response may wait for a task to end. Null for no wait. */
  readonly waitSeconds: number | null
  /** The wait is a default: the client did not ask for it and does not expect a task. */
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
