import { parseArgs } from 'node:util'
import { CONFIG_OPTION } from '../commands/command.ts'
import { loadConfig, type Config } from './config.ts'

export const SERVE_FLAGS_USAGE = '[--port N] [--host H] [--processes N] [--role api|worker] [--config FILE]'

export const SERVE_OPTIONS = {
  '--port N': 'Port to listen on; 0 takes a free one.',
  '--host H': 'Address to listen on.',
  '--processes N': 'How many processes share the port.',
  '--role api|worker': 'Answers requests or works on tasks; both without it.',
  ...CONFIG_OPTION,
} as const

/** Reads the configuration of `serve`. Flags override the environment, which overrides the file. */
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
