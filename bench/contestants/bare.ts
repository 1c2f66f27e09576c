import { fileURLToPath } from 'node:url'
import type { Contestant } from './contestant.ts'

export const bare: Contestant = {
  id: 'bare',
  prepare: async ({ port, upstreamPort, nodeFlags }) => ({
    version: `node:http + undici, Node ${process.versions.node}`,
    command: process.execPath,
    arguments: [
      ...nodeFlags,
      fileURLToPath(new URL('../bare-proxy.ts', import.meta.url)),
      String(port),
      String(upstreamPort),
    ],
    hasChannel: true,
    requestHeaders: { authorization: 'Bearer sk-mock' },
    startTimeoutMs: 10_000,
  }),
}
