import { parseArgs } from 'node:util'
import { loadConfig, toSnakeCase } from '../config.ts'
import { SETTINGS } from '../settings.ts'
import type { Setting } from '../setting.ts'
import type { Command } from './command.ts'

/** Reads the configuration as `serve` would and shows what came out of it, without secrets. */
export const checkConfig: Command = {
  usage: 'config check [--config FILE]',
  summary: 'Read the configuration and report every problem.',
  async run(words) {
    const { values } = parseArgs({ args: [...words], options: { config: { type: 'string' } } })
    const config = loadConfig({ environment: process.env, file: values.config ?? null })
    const lines = Object.entries<Setting<unknown>>(SETTINGS).map(([name, setting]) => {
      const value = Object.entries(config).find(([key]) => key === name)?.[1] ?? null
      const shown = value !== null && setting.isSecret ? '(secret)' : JSON.stringify(value)
      return `  ${toSnakeCase(name).padEnd(32)} ${shown}`
    })
    const providers = [...config.providers.keys()].join(', ') || 'none: the sandbox answers dev and test keys'
    process.stdout.write(
      `The configuration is valid.\n${lines.join('\n')}\n  ${'providers'.padEnd(32)} ${providers}\n`,
    )
    return 0
  },
}
