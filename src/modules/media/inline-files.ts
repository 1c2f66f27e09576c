import { AppError, invalidValue } from '../../kernel/app-error.ts'
import type { MediaKind } from './media-order.ts'
import type { OwnFiles } from './own-files.ts'

/** A place in a request that names a file by its URL. */
export interface FileUse {
  readonly url: string
  /** Null accepts every kind. */
  readonly kind: MediaKind | null
  readonly param: string
}

/** A use of a file that the gateway stores. */
export interface OwnFileUse extends FileUse {
  readonly mediaId: string
}

export interface InlineFile {
  readonly contentType: string
  readonly base64: string
}

/** The limit for all files of a request together. Each use counts. */
const BYTES_MAX = 20_000_000
const USES_MAX = 64

/** Returns the uses that name files of the gateway. Reads only the URLs. */
export function findOwnUses(media: Pick<OwnFiles, 'ownIdOf'>, uses: readonly FileUse[]): OwnFileUse[] {
  const own: OwnFileUse[] = []
  for (const use of uses) {
    const mediaId = media.ownIdOf(use.url, use.param)
    if (mediaId !== null) own.push({ ...use, mediaId })
  }
  return own
}

/** Loads the account's files for upstreams that cannot reach the gateway. The keys are their URLs. */
export async function inlineFiles(
  media: Pick<OwnFiles, 'openOwn'>,
  accountId: string,
  uses: readonly OwnFileUse[],
): Promise<ReadonlyMap<string, InlineFile>> {
  const files = new Map<string, InlineFile>()
  const sizes = new Map<string, number>()
  let bytes = 0
  for (const [index, { url, mediaId, kind, param }] of uses.entries()) {
    if (index === USES_MAX) throw invalidValue(param, `A request may name ${USES_MAX} files of this gateway.`)
    const known = sizes.get(url)
    const file = known === undefined ? await media.openOwn(accountId, mediaId, param) : null
    bytes += known ?? file?.bytes ?? 0
    if (bytes > BYTES_MAX) throw tooLarge(param)
    if (file === null) continue
    if (kind !== null && !file.contentType.startsWith(`${kind}/`))
      throw invalidValue(param, `'${param}' leads to ${file.contentType}, not to ${DESCRIBED[kind]}.`)
    sizes.set(url, file.bytes)
    const chunks: Uint8Array[] = []
    for await (const chunk of (await file.open()) as AsyncIterable<Uint8Array>) chunks.push(chunk)
    files.set(url, { contentType: file.contentType, base64: Buffer.concat(chunks).toString('base64') })
  }
  return files
}

const DESCRIBED: Readonly<Record<MediaKind, string>> = { image: 'an image', video: 'a video', audio: 'sound' }

function tooLarge(param: string): AppError {
  const message = `The files of this gateway that a request names may have ${BYTES_MAX / 1_000_000} MB together.`
  return new AppError('request_too_large', message, { param })
}
