import type { Readable } from 'node:stream'

/** Files of the gateway that clients name by their addresses, as inputs. They are read from the store, never over the network. */
export interface OwnFiles {
  /** The id of our own file that an address leads to; null for an address of somebody else. Asks nobody. */
  ownIdOf(url: string, param: string): string | null
  /** A file by its id, for its account. Another account's file is not found, like one that never was. */
  openOwn(accountId: string, mediaId: string, param: string): Promise<OwnFile>
}

export interface OwnFile {
  readonly contentType: string
  readonly bytes: number
  /** Who opens it reads to the end or destroys it. */
  open(): Promise<Readable>
}
