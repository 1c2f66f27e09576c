import { parseArgs } from 'node:util'
import { loadConfig, type Config } from './config.ts'

export const SERVE_FLAGS_USAGE = '[--port N] [--host H] [--processes N] [--role api|worker] [--config FILE]'

/** The configuration a gateway is served with: flags over the environment over the file. */
export function readServeConfig(words: readonly string[]): Config {
  const { values } = parseArgs({
    args: [...words],
    options: {
      port: { type: 'string' },
      host: { type: 'string' },
      processes: { type: 'string' },
      role: { type: 'string' },
      config: { type: 'string' },
    },
  })
  const { config: file = null, ...flags } = values
  return loadConfig({ environment: process.env, flags, file })
}
