import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Caller } from '../keys/keys.ts'
import type { InferenceRecord } from './inference-record.ts'

export interface InferenceRequest<Body> {
  readonly caller: Caller
  readonly body: Body
  /** The JSON text the body was parsed from. */
  readonly text: string
  /** Of the text in UTF-8. */
  readonly bytes: number
  readonly requestId: string
  readonly record: InferenceRecord
  readonly cancellation: Cancellation
  /** Headers of its wire that a provider of the same wire is sent, as names and values in turn. */
  readonly headers?: readonly string[]
  /** Given the last payloads of a stream whose charge is durable. They leave when it has resolved; it must not reject. */
  readonly keepEnd?: ((last: readonly Buffer[]) => Promise<void>) | undefined
  /** Whether somebody else makes the answer anew, so that nobody gets this one and it costs nothing. Asked when it is to be charged. */
  readonly isMadeAnew?: () => boolean
  /** What the client calls the session that the request belongs to. */
  readonly sessionId?: () => string | undefined
  /** How many seconds the client waits for a model that has to be woken, as it says. */
  readonly wakeTimeout?: () => string | undefined
}
