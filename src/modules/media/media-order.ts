import type { Cancellation } from '../../kernel/cancellation.ts'

/** What a file may be; it is recognised by its bytes, not by what somebody says of it. */
export type MediaKind = 'image' | 'video' | 'audio'

export interface KeepOrder {
  readonly accountId: string
  readonly purpose: 'input' | 'result'
  readonly kind: MediaKind
  readonly source: Uint8Array | AsyncIterable<Uint8Array>
  /** Used where the bytes do not tell. */
  readonly contentType?: string
  readonly bytesMax?: number
  /** Names the field of the request in errors. */
  readonly param?: string
}

export interface CopyOrder {
  readonly accountId: string
  readonly purpose: 'input' | 'result'
  readonly kind: MediaKind
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly bytesMax?: number
  /** Names the field of the request in errors. */
  readonly param?: string
  /** Hosts that may be private: those of the upstream that gave the address. */
  readonly trustedHosts?: readonly string[]
  readonly cancellation?: Cancellation
}
