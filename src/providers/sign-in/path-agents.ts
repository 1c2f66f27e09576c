import { Agent as HttpAgent, type ClientRequestArgs } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createConnector } from '../connection/create-connector.ts'
import type { NetworkPath } from '../connection/network-path.ts'

type OnConnection = (error: Error | null, socket: Duplex) => void

const CONNECT_MS_MAX = 10_000

/** Returns agents of Node for packages that take no others, or undefined if hosts are reached as usual. */
export function createPathAgents(
  path: NetworkPath = {},
): { readonly httpAgent: HttpAgent; readonly httpsAgent: HttpsAgent } | undefined {
  if (path.proxy === undefined && path.certificateAuthority === undefined) return undefined
  const connectBy =
    (protocol: 'http:' | 'https:') =>
    ({ host, port }: ClientRequestArgs, onConnection?: OnConnection): undefined => {
      const hostname = host ?? 'localhost'
      const at = { hostname, host: hostname, protocol, port: String(port ?? '') }
      createConnector(path, CONNECT_MS_MAX)(at, (...[error, socket]) =>
        // Nobody uses the socket of an error.
        onConnection?.(error, socket ?? new Socket()),
      )
    }
  return {
    httpAgent: Object.assign(new HttpAgent(), { createConnection: connectBy('http:') }),
    httpsAgent: Object.assign(new HttpsAgent(), { createConnection: connectBy('https:') }),
  }
}
