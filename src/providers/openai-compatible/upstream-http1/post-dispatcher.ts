/** One POST, with undici's names for its options, so that undici's dispatchers accept it too. */
export interface Post<Body> {
  readonly method: 'POST'
  readonly path: string
  /** Alternating names and values. */
  readonly headers: string[]
  readonly body: Body
  /** Milliseconds from sending the request to the end of the answer's head. 0 means no limit. */
  readonly headersTimeout: number
  /** Milliseconds between two reads of the answer's body. 0 means no limit. */
  readonly bodyTimeout: number
}

/** Sends a POST and reports the result to the handler. */
export interface PostDispatcher<Body> {
  dispatch(post: Post<Body>, handler: AnswerHandler): unknown
}

/** Receives exactly one of `onResponseEnd` and `onResponseError`, and no call after it. */
export interface AnswerHandler {
  onRequestStart(controller: AnswerController): void
  /** Called when the first bytes of the request have been written, if the dispatcher reports it. */
  onRequestSent?(): void
  onResponseStart(controller: AnswerController, status: number, headers: AnswerHeaders): void
  /** The handler may keep the bytes. */
  onResponseData(controller: AnswerController, bytes: Buffer): void
  onResponseEnd(): void
  onResponseError(controller: AnswerController, error: Error): void
}

/** Lets a handler control its request. */
export interface AnswerController {
  readonly paused: boolean
  pause(): void
  resume(): void
  abort(reason: Error): void
}

/** The headers that the gateway reads. To read another, add it here and to `NotedFields`. A repeated header is a list. */
export interface AnswerHeaders {
  readonly 'content-type'?: string | string[] | undefined
  readonly 'retry-after'?: string | string[] | undefined
}
