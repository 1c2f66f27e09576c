import { Cancellation } from '../kernel/cancellation.ts'
import type { InferenceRecord } from '../modules/inference/inference.ts'
import type { Caller } from '../modules/keys/keys.ts'
import type { InferenceSpan } from '../telemetry/tracing.ts'
import { openAiWire } from '../wires/openai-chat/openai-wire.ts'
import type { Wire } from '../wires/wire.ts'
import type { RequestMessage, ResponseMessage } from './message.ts'
import type { Recording } from './answers/replay-recording.ts'

/** One request and its answer, and what is known of them while they run. */
export class Exchange<Incoming extends RequestMessage = RequestMessage> {
  /** That of the first try, where a request with an idempotency key goes on for one that died. */
  id: string
  readonly startedMs = performance.now()
  /** Cancelled when the client disconnects, or when the server stops waiting for running requests. */
  readonly cancellation = new Cancellation()
  readonly incoming: Incoming
  readonly response: ResponseMessage
  /** The pattern of the route, or `unmatched`. */
  readonly route: string
  /** Null on routes without authentication, and until the key is known. */
  caller: Caller | null = null
  /** Of inference routes. */
  inference: InferenceRecord | null = null
  /** Only while tracing is on. */
  span: InferenceSpan | null = null
  errorCode: string | null = null
  /** What its client speaks: errors and streams are told in it. */
  wire: Wire = openAiWire
  /** Of a request with an idempotency key. */
  recording: Recording | null = null
  /** What is done for it, which may go on for some time when its client is gone. Null until that begins. */
  work: Promise<unknown> | null = null
  /** What it asks for goes on without its client: a repeated request with its idempotency key takes that up. */
  goesOnAlone = false
  /** Where the tracker keeps it. */
  position = -1
  requestBytes = 0
  /** The text of the body, kept only where the operator wants prompts in the log. */
  bodyText: string | null = null

  constructor(id: string, incoming: Incoming, response: ResponseMessage, route: string) {
    this.id = id
    this.incoming = incoming
    this.response = response
    this.route = route
  }
}
