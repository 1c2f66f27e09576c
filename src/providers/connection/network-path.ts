import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'

/** How the hosts of a provider are reached, if not directly and with the usual certificate authorities. */
export interface NetworkPath {
  readonly proxy?: ProxyServer | undefined
  /** Trusted besides the usual certificate authorities, in PEM. */
  readonly certificateAuthority?: string | undefined
}

/** An HTTP proxy, which gets every connection by `CONNECT`. It sees only the names of hosts, unless they are called over plain HTTP. */
export interface ProxyServer {
  /** `http://host:port`, or `https://` to encrypt the connection to the proxy as well. */
  readonly url: string
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/** More than there are providers with an authority of their own. */
const CONTEXTS_MAX = 100
const contexts = new Map<string, SecureContext>()

/** Returns what verifies servers. Undefined: as usual. Shared, because creating one takes milliseconds. */
export function secureContextOf({ certificateAuthority }: NetworkPath): SecureContext | undefined {
  if (certificateAuthority === undefined) return undefined
  const known = contexts.get(certificateAuthority)
  if (known !== undefined) return known
  const context = createSecureContext({ ca: [...getCACertificates('default'), certificateAuthority] })
  if (contexts.size >= CONTEXTS_MAX) contexts.clear()
  contexts.set(certificateAuthority, context)
  return context
}
