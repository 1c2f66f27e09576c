import { buildConnector } from 'undici'
import { secureContextOf, type NetworkPath } from './network-path.ts'
import { openTunnel, TunnelFailed } from './open-tunnel.ts'
import { lookUpBeyondLink } from './refuse-link-local.ts'

/** Creates what makes the connections of undici. */
export function createConnector(path: NetworkPath, timeoutMs: number): buildConnector.connector {
  const secureContext = secureContextOf(path)
  const connect = buildConnector({
    timeout: timeoutMs,
    // With one stream on each connection, an abort closes the socket, which every upstream notices immediately.
    allowH2: false,
    lookup: lookUpBeyondLink,
    ...(secureContext === undefined ? {} : { secureContext }),
  })
  const { proxy } = path
  if (proxy === undefined) return connect
  return (options, callback) => {
    const { hostname, port, protocol } = options
    const isTls = protocol === 'https:'
    const target = { host: hostname, port: Number(port) || (isTls ? 443 : 80) }
    const giveUp = openTunnel(target, { proxy, secureContext }, (error, socket) => {
      clearTimeout(timer)
      if (socket === null) callback(error ?? new TunnelFailed('there is no connection to its proxy'), null)
      else if (isTls) connect({ ...options, httpSocket: socket }, callback)
      else callback(null, socket)
    })
    const timer = setTimeout(giveUp, timeoutMs)
  }
}
