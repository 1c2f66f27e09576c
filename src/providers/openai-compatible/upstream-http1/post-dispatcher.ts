/** One POST, with the names that undici's dispatchers have for its parts: either sends it. */
export interface Post<Body> {
  readonly method: 'POST'
  readonly path: string
  /** Names and values in turn. */
  readonly headers: string[]
  readonly body: Body
  /** Milliseconds from the request being sent to the end of the answer's head. 0 waits for ever. */
  readonly headersTimeout: number
  /** Milliseconds between two reads of the answer's body. 0 waits for ever. */
  readonly bodyTimeout: number
}

/** Sends a POST and tells the handler what comes of it. */
export interface PostDispatcher<Body> {
  dispatch(post: Post<Body>, handler: AnswerHandler): unknown
}

/** A refused or ended exchange calls nothing more; of the last two exactly one is called. */
export interface AnswerHandler {
  onRequestStart(controller: AnswerController): void
  /** Where the dispatcher tells: the first bytes of the request are on their way. */
  onRequestSent?(): void
  onResponseStart(controller: AnswerController, status: number, headers: AnswerHeaders): void
  /** The bytes are the handler's to keep. */
  onResponseData(controller: AnswerController, bytes: Buffer): void
  onResponseEnd(): void
  onResponseError(controller: AnswerController, error: Error): void
}

/** What a handler can do about its exchange. */
export interface AnswerController {
  readonly paused: boolean
  pause(): void
  resume(): void
  abort(reason: Error): void
}

/** Those that somebody reads: whoever needs another adds it here and to `NotedFields`. A list where it stands twice. */
export interface AnswerHeaders {
  readonly 'content-type'?: string | string[] | undefined
  readonly 'retry-after'?: string | string[] | undefined
}
