import { Cancellation } from '../kernel/cancellation.ts'
import { CallerRefused } from '../kernel/client-disconnected.ts'
import type { InferenceRecord } from '../modules/inference/inference.ts'
import type { Caller } from '../modules/keys/keys.ts'
import { openAiWire } from '../wires/openai-chat/openai-wire.ts'
import type { Wire } from '../wires/wire.ts'
import type { Access } from './access.ts'
import type { Admission } from './admission.ts'
import type { RequestMessage, ResponseMessage } from './message.ts'
import type { BodyCapture } from './answers/capture-bodies.ts'
import type { Recording } from './answers/replay-recording.ts'

/** How long a client of an ended request gets to read what was written. */
const CUT_OFF_AFTER_MS = 500

const NOTHING: readonly (() => void)[] = []

/** Counts the memory of requests. */
interface MemoryRoom {
  countRead(exchange: Exchange, bytes: number): void
}

/** One request and its response, with their state while they run. */
export class Exchange<Incoming extends RequestMessage = RequestMessage> {
  /** The id of the first attempt, if a request with an idempotency key continues an interrupted one. */
  id: string
  readonly startedMs = performance.now()
  /** Cancelled when the client disconnects, or when the server stops waiting for running requests. */
  readonly cancellation = new Cancellation()
  /** Cancelled when the server begins to close. Shared by all requests. */
  readonly shutdown: Cancellation
  readonly incoming: Incoming
  readonly response: ResponseMessage
  /** The pattern of the route, or `unmatched`. */
  readonly route: string
  /** Null on routes without authentication, and until the key is known. */
  caller: Caller | null = null
  /** What the route needs of the caller. */
  access: Access | null = null
  /** Of a route that takes a credential that is no key. */
  admission: Admission | null = null
  /** Only of inference routes. */
  inference: InferenceRecord | null = null
  errorCode: string | null = null
  /** The message of that error, as the client got it. */
  errorMessage: string | null = null
  /** The model that the path names, as Azure's clients do. It replaces the one of the body. */
  pathModel: string | null = null
  /** The wire format of the client, used for errors and streams. */
  wire: Wire = openAiWire
  /** The recording of a request with an idempotency key. */
  recording: Recording | null = null
  /** The running work, which may continue after the client disconnects. Null until it starts. */
  work: Promise<unknown> | null = null
  /** Whether the work continues without its client, so that a repeated request with the idempotency key can resume it. */
  goesOnAlone = false
  /**
   * Ends the answer with an error although the work goes on. Set while work runs that a vendor bills to its end; its answer is then
   * read without a client.
   */
  tellRefused: ((reason: Error) => void) | null = null
  /** Whether the caller was refused in the middle. The answer of work that goes on has ended. */
  isRefused = false
  /** Where the memory of its body, and of what is read for it, is counted. */
  room: MemoryRoom | null = null
  /** Index in the tracker's list. */
  position = -1
  requestBytes = 0
  /** The text of the body, kept only if the operator logs prompts. */
  bodyText: string | null = null
  /** The bodies of a key whose bodies are stored. */
  capture: BodyCapture | null = null
  #endings: readonly (() => void)[] = NOTHING
  #hasEnded = false

  constructor(
    id: string,
    incoming: Incoming,
    response: ResponseMessage,
    route: string,
    shutdown: Cancellation,
  ) {
    this.id = id
    this.incoming = incoming
    this.response = response
    this.route = route
    this.shutdown = shutdown
  }

  /** The caller may not use the gateway any more: the client is told so at once, even if the work goes on. */
  refuse(reason: Error): void {
    if (this.isRefused) return
    this.isRefused = true
    this.tellRefused?.(reason)
    this.end(new CallerRefused(reason))
  }

  /** Counts bytes of text that are read for the request, until it ends. Throws if there is no room for them. */
  countRead(bytes: number): void {
    this.room?.countRead(this, bytes)
  }

  /** Adds something to do when the response is closed and the work has ended. Does it at once if that has happened. */
  onEnd(action: () => void): void {
    if (this.#hasEnded) action()
    else this.#endings = [...this.#endings, action]
  }

  /** Called once, by the tracker. */
  finish(): void {
    this.#hasEnded = true
    for (const action of this.#endings) action()
  }

  /** Cancels the work, and cuts the connection if the client does not read. A stream gets the reason as its last frame. */
  end(reason: unknown): void {
    this.cancellation.cancel(reason)
    setTimeout(() => {
      if (this.response.writableNeedDrain) this.response.destroy()
    }, CUT_OFF_AFTER_MS).unref()
  }
}
