import type { Cancellation } from '../kernel/cancellation.ts'

/** Requests to addresses that came from outside: a client's image, an upstream's result, a webhook. */
export interface Outbound {
  /**
   * Resolves with the head of the answer; the body is read by the caller, up to the bound. Throws an `OutboundRefused` for an
   * address that is not allowed and an `OutboundFailed` for one that does not answer as it should.
   */
  fetch(request: OutboundRequest): Promise<OutboundResponse>
  close(): Promise<void>
}

export interface OutboundRequest {
  readonly url: string
  readonly method?: 'GET' | 'POST'
  /** Sent to this address only, not to where it redirects. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Of the answer's body. */
  readonly bytesMax: number
  /** For all of it. */
  readonly timeoutMs: number
  /** None unless told; each is checked like the first address. */
  readonly redirectsMax?: number
  /** Hosts (`name` or `name:port`) that may be private for this one request, beside those the operator allows. */
  readonly trustedHosts?: readonly string[]
  readonly cancellation?: Cancellation
}

export interface OutboundResponse {
  readonly status: number
  readonly contentType: string | null
  readonly contentLength: number | null
  readonly body: AsyncIterable<Uint8Array>
}
