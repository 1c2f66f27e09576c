import { invalidValue } from '../../kernel/app-error.ts'
import { readAddress } from './media-address.ts'

const OWN_PATH = /\/media\/([^/?#]+)$/

interface OwnAddressOptions {
  readonly secret: Buffer
  /** Where clients reach the gateway, as far as that is known. */
  readonly bases: readonly string[]
  readonly param: string
}

/**
 * The id of our own file that an address leads to; null for an address of somebody else. Whether the file may be read is left to the
 * account's rights, so an address that has expired is good too. One of ours that was never signed is refused and not fetched.
 */
export function readOwnAddress(url: string, { secret, bases, param }: OwnAddressOptions): string | null {
  // Most inputs are data URIs, which can be very long.
  if (!/^https?:/i.test(url) || !URL.canParse(url)) return null
  const { pathname, origin } = new URL(url)
  const token = OWN_PATH.exec(pathname)?.[1]
  if (token === undefined) return null
  const address = readAddress(secret, token)
  if (address !== null) return address.id
  const isOurs = bases.some((base) => URL.canParse(base) && new URL(base).origin === origin)
  if (!isOurs) return null
  throw invalidValue(param, `'${param}' is not a valid address of a file of this gateway.`)
}
