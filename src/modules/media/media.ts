import type { Cancellation } from '../../kernel/cancellation.ts'

/** Files of accounts: what clients gave us for long work, and what upstreams made. */
export interface Media {
  /** Keeps what the source gives, up to the bound. Nothing is left of a source that fails or is too large. */
  keep(order: KeepOrder): Promise<MediaFile>
  /** Copies what lies at an address. `AppError`s name `param` where the client gave the address. */
  keepFromAddress(order: CopyOrder): Promise<MediaFile>
  read(
    accountId: string,
    mediaId: string,
  ): Promise<{ readonly bytes: Uint8Array; readonly contentType: string }>
  /** Absolute, signed, and good until the file expires; needs no key and reveals nothing. */
  addressOf(file: Pick<MediaFile, 'id' | 'expiresAt'>): string
  remove(mediaIds: readonly string[]): Promise<void>
  close(): Promise<void>
}

export interface MediaFile {
  readonly id: string
  readonly contentType: string
  readonly bytes: number
  /** Of the address. The file itself is kept for as long as the results of tasks are. */
  readonly expiresAt: Date
}

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
