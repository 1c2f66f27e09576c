import { AppError } from '../../kernel/app-error.ts'
import { readAddress } from './media-address.ts'

const OWN_PATH = /\/media\/([^/?#]+)$/

interface OwnAddressOptions {
  readonly secret: Buffer
  /** Where clients reach the gateway, as far as that is known. */
  readonly bases: readonly string[]
  readonly nowMs: number
  readonly param: string | undefined
}

/**
 * The id of our own file that an address leads to; null for an address of somebody else. Who has a signed address has the file until
 * it expires, whichever account made it. An address of ours that is not good is refused and not asked for over the network.
 */
export function readOwnAddress(
  url: string,
  { secret, bases, nowMs, param }: OwnAddressOptions,
): string | null {
  if (!URL.canParse(url)) return null
  const { pathname, origin } = new URL(url)
  const token = OWN_PATH.exec(pathname)?.[1]
  const address = token === undefined ? null : readAddress(secret, token)
  if (address !== null && address.expiresAtMs > nowMs) return address.id
  const isOurs =
    address !== null || bases.some((base) => URL.canParse(base) && new URL(base).origin === origin)
  if (!isOurs || token === undefined) return null
  const named = param === undefined ? {} : { param }
  throw new AppError('invalid_value', 'The address of the file is not good, or has expired.', named)
}
