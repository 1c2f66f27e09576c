import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { nextLoopTurn } from '../../../kernel/turns/loop-turns.ts'
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
  const bytes = Buffer.from(await elideMedia(text))
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

/** Shorter texts stay. */
const MEDIA_LENGTH_MIN = 512
const DATA_URL_HEAD = /data:[^",;\\]{1,100}(?:;[^",;\\]{1,100}){0,5};base64,/y
const NO_BASE64 = /[^A-Za-z0-9+/_-]/
const PIECE_LENGTH = 64 * 1024

/** Leaves out the content of JSON strings, and of the rest of one, that are only Base64, with or without the beginning of a data URL. */
export async function elideMedia(text: string): Promise<string> {
  const pieces: string[] = []
  let copied = 0
  for (let quote = text.indexOf('"'); quote !== -1;) {
    const next = endOfString(text, quote + 1)
    if (next - quote > MEDIA_LENGTH_MIN) {
      const start = skipDataUrlHead(text, quote + 1)
      const end = await findEndOfBase64(text, start)
      if (end - start >= MEDIA_LENGTH_MIN && isPadding(text, end, next)) {
        pieces.push(text.slice(copied, start), `[${end - start} characters of media left out]`)
        copied = next
      }
    }
    quote = next < text.length ? next : -1
  }
  return pieces.join('') + text.slice(copied)
}

/** Returns the position of the next quote, or the end of the text. No Base64 contains a quote that is escaped. */
function endOfString(text: string, start: number): number {
  const quote = text.indexOf('"', start)
  return quote === -1 ? text.length : quote
}

function skipDataUrlHead(text: string, start: number): number {
  DATA_URL_HEAD.lastIndex = start
  return DATA_URL_HEAD.test(text) ? DATA_URL_HEAD.lastIndex : start
}

/** Reads over escaped slashes. A long text is read in turns. */
async function findEndOfBase64(text: string, start: number): Promise<number> {
  let at = start
  while (at < text.length) {
    const piece = text.slice(at, at + PIECE_LENGTH)
    const found = piece.search(NO_BASE64)
    at += found === -1 ? piece.length : found
    if (found === -1) await nextLoopTurn()
    else if (text.startsWith('\\/', at)) at += 2
    else return at
  }
  return at
}

function isPadding(text: string, start: number, end: number): boolean {
  return end - start <= 2 && '=='.startsWith(text.slice(start, end))
}

/** Cuts without splitting a character. */
function cutText(bytes: Buffer, bytesMax: number): string {
  return new TextDecoder().decode(bytes.subarray(0, bytesMax), { stream: true })
}
