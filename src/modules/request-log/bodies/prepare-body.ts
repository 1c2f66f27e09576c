import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Sealer } from '../../../kernel/seal-text.ts'

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/** A body as it is stored. */
export interface PreparedBody {
  readonly sealed: Buffer
  readonly isCut: boolean
}

interface BodyPlace {
  readonly sealer: Sealer
  /** Identifies the row and column, so that a sealed body cannot be moved to another one. */
  readonly place: string
}

/** Removes media, cuts to the limit, compresses and encrypts. `isPartial`: the end of the text is missing already. */
export async function prepareBody(
  text: string,
  {
    sealer,
    place,
    bytesMax,
    isPartial,
  }: BodyPlace & { readonly bytesMax: number; readonly isPartial: boolean },
): Promise<PreparedBody> {
  const bytes = Buffer.from(elideMedia(text))
  const isCut = isPartial || bytes.length > bytesMax
  const kept = isCut ? `${cutText(bytes, bytesMax)}${CUT_MARK}` : bytes
  return { sealed: sealer.sealBytes(await compress(kept), place), isCut }
}

/** Returns null if it was sealed with another key. */
export async function openBody(sealed: Uint8Array, { sealer, place }: BodyPlace): Promise<string | null> {
  const compressed = sealer.openBytes(sealed, place)
  return compressed === null ? null : (await decompress(compressed)).toString('utf8')
}

/** The end of a body that was cut. */
export const CUT_MARK = '…[cut]'

/** A JSON string, or the rest of one, that is only Base64, with or without the beginning of a data URL. */
const BASE64 =
  /"(data:[^",;\\]{1,100}(?:;[^",;\\]{1,100}){0,5};base64,)?((?:[A-Za-z0-9+/_-]|\\\/){512,})={0,2}("|$)/g

export function elideMedia(text: string): string {
  return text.replaceAll(
    BASE64,
    (_, start: string | undefined, data: string, end: string) =>
      `"${start ?? ''}[${data.length} characters of media left out]${end}`,
  )
}

/** Cuts without splitting a character. */
function cutText(bytes: Buffer, bytesMax: number): string {
  return new TextDecoder().decode(bytes.subarray(0, bytesMax), { stream: true })
}
