import { AppError, invalidValue } from '../../kernel/app-error.ts'
import type { Place } from '../../storage/place.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import { refusePrivateAddress } from './fetch-foreign.ts'
import type { MediaKind } from './media-order.ts'
import type { OwnFiles } from './own-files.ts'

/** A place in a request that names a file by its URL. */
export interface FileUse {
  readonly url: string
  /** Null accepts every kind. */
  readonly kind: MediaKind | null
  readonly param: string
}

/** A use of a file that is put into the request. */
export interface InlinedUse extends FileUse {
  /** Null for a file of another server, which the gateway fetches. */
  readonly mediaId: string | null
}

export interface FindOptions {
  /** Whether the gateway fetches files of other servers, because an upstream in the operator's network must not. */
  readonly fetchesForeign: boolean
}

export interface InlineFile {
  readonly contentType: string
  readonly base64: string
}

/** The limit for all files of a request together. Each use counts. */
const BYTES_MAX = 20_000_000
const USES_MAX = 64
/** Files of other servers are fetched one after the other while the client waits. */
const FOREIGN_MAX = 16

/**
 * Returns the uses whose files are put into the request. Reads only the URLs. Throws for the address of a private host, because
 * an upstream in the operator's network could fetch it.
 */
export function findFileUses(
  media: Pick<OwnFiles, 'ownIdOf'>,
  uses: readonly FileUse[],
  { fetchesForeign }: FindOptions,
): InlinedUse[] {
  const inlined: InlinedUse[] = []
  for (const use of uses) {
    if (!WEB_ADDRESS.test(use.url)) continue
    const mediaId = media.ownIdOf(use.url, use.param)
    if (mediaId === null && !fetchesForeign) refusePrivateAddress(use.url, use.param)
    if (mediaId !== null || fetchesForeign) inlined.push({ ...use, mediaId })
  }
  return inlined
}

/** Data URIs are long and are not references. */
const WEB_ADDRESS = /^https?:/i

interface InlineOrder {
  readonly place: Place
  readonly uses: readonly InlinedUse[]
  readonly cancellation?: Cancellation
  /** Counts what the files add to the text of the request. Throws if there is no memory for it. */
  readonly countRead?: ((textBytes: number) => void) | undefined
}

/** Loads files for upstreams that cannot or must not fetch them. The keys are their URLs. */
export async function inlineFiles(
  media: Pick<OwnFiles, 'openOwn' | 'fetchForeign'>,
  { place, uses, cancellation, countRead }: InlineOrder,
): Promise<ReadonlyMap<string, InlineFile>> {
  const files = new Map<string, InlineFile>()
  const sizes = new Map<string, number>()
  let bytes = 0
  let foreign = 0
  for (const [index, { url, mediaId, kind, param }] of uses.entries()) {
    if (index === USES_MAX) throw invalidValue(param, `A request may name ${USES_MAX} files by address.`)
    const known = sizes.get(url)
    if (mediaId === null) {
      if (known === undefined) {
        foreign += 1
        if (foreign > FOREIGN_MAX)
          throw invalidValue(param, `A request may name ${FOREIGN_MAX} files of other servers.`)
        const fetched = await media.fetchForeign({ url, param, bytesMax: BYTES_MAX - bytes, cancellation })
        sizes.set(url, fetched.bytes.length)
        countRead?.(Math.ceil(fetched.bytes.length / 3) * 4)
        files.set(url, { contentType: fetched.contentType, base64: fetched.bytes.toString('base64') })
      }
      bytes += sizes.get(url) ?? 0
      if (bytes > BYTES_MAX) throw tooLarge(param)
      continue
    }
    const file = known === undefined ? await media.openOwn(place, mediaId, param) : null
    bytes += known ?? file?.bytes ?? 0
    if (bytes > BYTES_MAX) throw tooLarge(param)
    if (file === null) continue
    if (kind !== null && !file.contentType.startsWith(`${kind}/`))
      throw invalidValue(param, `'${param}' leads to ${file.contentType}, not to ${DESCRIBED[kind]}.`)
    sizes.set(url, file.bytes)
    countRead?.(Math.ceil(file.bytes / 3) * 4)
    const chunks: Uint8Array[] = []
    for await (const chunk of (await file.open()) as AsyncIterable<Uint8Array>) chunks.push(chunk)
    files.set(url, { contentType: file.contentType, base64: Buffer.concat(chunks).toString('base64') })
  }
  return files
}

const DESCRIBED: Readonly<Record<MediaKind, string>> = { image: 'an image', video: 'a video', audio: 'sound' }

function tooLarge(param: string): AppError {
  const message = `The files that a request names by address may have ${BYTES_MAX / 1_000_000} MB together.`
  return new AppError('request_too_large', message, { param })
}
