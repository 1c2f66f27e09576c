/**
 * Takes the place of the connection to an upstream for one call: the request becomes a line of a batch of the vendor, and its answer comes
 * hours later. Everything around it, from the translation of the request to the charge of the answer, is that of any other call.
 */
export interface HandOver {
  /** Rejects if there will be no answer. A repeated request of the same call gets the answer of the first one. */
  post(request: HandedRequest): Promise<HandedAnswer>
}

/** What would have been sent. */
export interface HandedRequest {
  /** Behind the address of the vendor, such as `/chat/completions`. */
  readonly path: string
  /** JSON. */
  readonly body: string
}

export interface HandedAnswer {
  readonly status: number
  /** JSON. */
  readonly body: Buffer
}
