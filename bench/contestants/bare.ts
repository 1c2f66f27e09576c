import { fileURLToPath } from 'node:url'
import type { Contestant } from './contestant.ts'
import { startFlags } from './parkway.ts'

/** A proxy as one writes it from the documentation of `node:http` and undici. */
export const bare = createProxy('bare', 'bare-proxy.ts', 'node:http + undici')

/** The same proxy with every optimisation: the best that is possible in this runtime. */
export const floor = createProxy('floor', 'floor-proxy.ts', 'the bare proxy tuned by hand')

function createProxy(id: string, file: string, description: string): Contestant {
  return {
    id,
    prepare: async ({ port, upstreamPort, nodeFlags }) => ({
      version: `${description}, Node ${process.versions.node}`,
      command: process.execPath,
      // The same heap size as the gateway, so that only the work differs.
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
