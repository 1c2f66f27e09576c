import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Place } from '../../storage/place.ts'

/** The kind of a file. It is recognised by its content, not by its declared type. */
export type MediaKind = 'image' | 'video' | 'audio'

export interface KeepOrder {
  readonly place: Place
  readonly purpose: 'input' | 'result'
  readonly kind: MediaKind
  readonly source: Uint8Array | AsyncIterable<Uint8Array>
  /** Used if the content cannot be recognised. */
  readonly contentType?: string
  readonly bytesMax?: number
  /** Names the field of the request in errors. */
  readonly param?: string
}

export interface CopyOrder {
  readonly place: Place
  readonly purpose: 'input' | 'result'
  readonly kind: MediaKind
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly bytesMax?: number
  /** Names the field of the request in errors. */
  readonly param?: string
  /** Hosts that may be private: those of the upstream that returned the URL. */
  readonly trustedHosts?: readonly string[]
  readonly cancellation?: Cancellation
}
