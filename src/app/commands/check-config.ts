import { silentLogger } from '../../kernel/logger.ts'
import { createCatalog } from '../../modules/catalog/catalog.ts'
import { toSnakeCase } from '../settings/config.ts'
import { readServeConfig, SERVE_FLAGS_USAGE, SERVE_OPTIONS } from '../settings/read-serve-config.ts'
import { SETTINGS } from '../settings/settings.ts'
import type { Setting } from '../settings/setting.ts'
import type { Command } from './command.ts'

/** Reads the configuration as `serve` would and prints the result without secrets. */
export const checkConfig: Command = {
  usage: `config check ${SERVE_FLAGS_USAGE}`,
  options: SERVE_OPTIONS,
  async run(words) {
    const config = readServeConfig(words)
    createCatalog({ overrideFile: config.catalogFile, log: silentLogger }).close()
    const lines = Object.entries<Setting<unknown>>(SETTINGS).map(([name, setting]) => {
      const value = Object.entries(config).find(([key]) => key === name)?.[1] ?? null
      const isEmpty = value === null || (Array.isArray(value) && value.length === 0)
      const shown = setting.isSecret && !isEmpty ? '(secret)' : JSON.stringify(value, showValue)
      return `  ${toSnakeCase(name).padEnd(32)} ${shown}`
    })
    const providers = [...config.providers.keys()].join(', ') || 'none: the sandbox answers dev and test keys'
    process.stdout.write(
      `The configuration is valid.\n${lines.join('\n')}\n  ${'providers'.padEnd(32)} ${providers}\n`,
    )
    return 0
  },
}

/** Converts values that JSON cannot represent. */
function showValue(_key: string, value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries(value)
  return typeof value === 'bigint' ? Number(value) : value
}
