import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Files at addresses that requests name. Vendors and the gateway fetch them from here. */
export interface HostedFiles {
  /** As `PARKWAY_OUTBOUND_ALLOW` names it. */
  readonly authority: string
  /** Returns the address of a file. */
  publish(name: string, contentType: string, bytes: Buffer): string
  /** Returns the bytes at an address, or null if it is not here. */
  find(url: string): Buffer | null
  close(): Promise<void>
}

export async function hostFiles(): Promise<HostedFiles> {
  const files = new Map<string, { contentType: string; bytes: Buffer }>()
  const server = createServer((request, response) => {
    const file = files.get(request.url ?? '')
    if (file === undefined) {
      response.writeHead(404).end()
      return
    }
    response.writeHead(200, { 'content-type': file.contentType, 'content-length': file.bytes.length })
    response.end(request.method === 'HEAD' ? undefined : file.bytes)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const authority = `127.0.0.1:${port}`
  return {
    authority,
    publish: (name, contentType, bytes) => {
      files.set(`/${name}`, { contentType, bytes })
      return `http://${authority}/${name}`
    },
    find: (url) => (URL.canParse(url) ? (files.get(new URL(url).pathname)?.bytes ?? null) : null),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
