import { fileURLToPath } from 'node:url'
import type { Contestant } from './contestant.ts'
import { startFlags } from './parkway.ts'

/** What one writes from the documentation of `node:http` and undici. */
export const bare = createProxy('bare', 'bare-proxy.ts', 'node:http + undici')

/** The same job with every trick: what is possible at all in this runtime. */
export const floor = createProxy('floor', 'floor-proxy.ts', 'the bare proxy tuned by hand')

function createProxy(id: string, file: string, description: string): Contestant {
  return {
    id,
    prepare: async ({ port, upstreamPort, nodeFlags }) => ({
      version: `${description}, Node ${process.versions.node}`,
      command: process.execPath,
      // The same heap as the gateway's: what differs is the work.
      arguments: [
        ...startFlags(),
        ...nodeFlags,
        fileURLToPath(new URL(`../${file}`, import.meta.url)),
        String(port),
        String(upstreamPort),
      ],
      hasChannel: true,
      requestHeaders: { authorization: 'Bearer sk-mock' },
      startTimeoutMs: 10_000,
    }),
  }
}
