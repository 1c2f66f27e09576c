import { connect } from 'node:tls'
import { repeat } from '../../storage/leased-work/repeat.ts'

const LOOK_MS = 6 * 60 * 60_000
const ANSWER_MS_MAX = 5_000

/** When certificates end, in seconds since the epoch, by the name of their endpoint. */
export interface CertificateWatch {
  readonly ends: ReadonlyMap<string, number>
  close(): Promise<void>
}

/** Looks at the certificates of these addresses now and then. Those without TLS have none. */
export function watchCertificates(
  addresses: Readonly<Record<string, string | null>>,
  readEnd: (address: URL) => Promise<number> = readCertificateEnd,
): CertificateWatch {
  const watched = Object.entries(addresses).flatMap(([name, address]) =>
    address?.startsWith('https:') === true ? [{ name, address: new URL(address) }] : [],
  )
  const ends = new Map<string, number>()
  if (watched.length === 0) return { ends, close: async () => {} }
  const look = async (): Promise<void> => {
    for (const { name, address } of watched) ends.set(name, await readEnd(address))
  }
  // An address that does not answer keeps the end that was last seen.
  const stop = repeat({ firstMs: 0, pauseMs: LOOK_MS, work: look, onFailure: () => {} })
  return { ends, close: stop }
}

/** Returns when the certificate of an endpoint ends, in seconds since the epoch. Rejects if it does not answer. */
export function readCertificateEnd({ hostname, port }: URL): Promise<number> {
  return new Promise((resolve, reject) => {
    // The certificate is only read, so that one that nobody should trust any more is read too.
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? 443 : Number(port),
      servername: /^[\d.]+$|:/.test(hostname) ? '' : hostname,
      rejectUnauthorized: false,
      timeout: ANSWER_MS_MAX,
    })
    socket.once('secureConnect', () => {
      const endMs = Date.parse(socket.getPeerCertificate().valid_to)
      socket.destroy()
      if (Number.isNaN(endMs)) reject(new Error('the certificate has no end'))
      else resolve(endMs / 1e3)
    })
    socket.once('timeout', () => socket.destroy(new Error(`no answer within ${ANSWER_MS_MAX} ms`)))
    socket.once('error', reject)
  })
}
