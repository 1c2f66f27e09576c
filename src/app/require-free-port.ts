import { once } from 'node:events'
import { createServer } from 'node:net'

/** Rejects with the system's error when somebody listens there already. */
export async function requireFreePort(address: { host: string; port: number }): Promise<void> {
  const server = createServer()
  server.listen({ ...address, exclusive: true })
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}
