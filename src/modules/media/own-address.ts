import { invalidValue } from '../../kernel/app-error.ts'
import { readAddress } from './media-address.ts'

const OWN_PATH = /\/media\/([^/?#]+)$/

interface OwnAddressOptions {
  readonly secret: Buffer
  /** The known addresses of the gateway. */
  readonly bases: readonly string[]
  readonly param: string
}

/**
 * Returns the id of the gateway's file at a URL, or null for the URL of another server. Access is decided by the account's
 * rights, so expired URLs are accepted. A URL of the gateway without a valid signature is refused and not fetched.
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
