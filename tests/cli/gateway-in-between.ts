import { createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server between the program and a gateway. */
interface GatewayInBetween {
  readonly baseUrl: string
  /** The paths of all requests so far. */
  readonly paths: readonly string[]
  close(): Promise<void>
}

/** Passes everything on to a gateway, except what the callback answers itself by returning true. */
export async function startGatewayInBetween(
  gatewayUrl: string,
  answer: (path: string, response: ServerResponse) => boolean,
): Promise<GatewayInBetween> {
  const paths: string[] = []
  const server = createServer((incoming, response) => {
    const path = incoming.url ?? ''
    paths.push(path)
    if (answer(path, response)) return
    const { method = 'GET', headers } = incoming
    const passed = request(new URL(path, gatewayUrl), { method, headers }, (answered) => {
      response.writeHead(answered.statusCode ?? 500, answered.headers)
      answered.pipe(response)
    })
    passed.on('error', () => response.destroy())
    response.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    paths,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}
