import type { Readable } from 'node:stream'
import type { Place } from '../../storage/place.ts'
import type { ForeignFile, ForeignOrder } from './fetch-foreign.ts'

/** Files of the gateway that clients pass as inputs by URL. They are read from the store, never over the network. */
export interface OwnFiles {
  /** Returns the id of the gateway's file at a URL, or null for the URL of another server. Reads only the URL. */
  ownIdOf(url: string, param: string): string | null
  /** Opens a file within the place. Throws `not_found` also for a file of another account or project. */
  openOwn(place: Place, mediaId: string, param: string): Promise<OwnFile>
  /** Fetches a file of another server. Throws the client's error if that is not allowed or fails. */
  fetchForeign(order: ForeignOrder): Promise<ForeignFile>
}

export interface OwnFile {
  readonly contentType: string
  readonly bytes: number
  /** The caller must read it to the end or destroy it. */
  open(): Promise<Readable>
}
