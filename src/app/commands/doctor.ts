import { parseArgs } from 'node:util'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import { messageOf } from '../../storage/storage-error.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { examine } from '../doctor/examine.ts'
import type { Finding } from '../doctor/finding.ts'
import { lookWithoutGateway } from '../doctor/look-without-gateway.ts'
import { findingsToLines, findingsToText } from '../doctor/print-findings.ts'
import { findUnmigratedStorage } from '../process/find-storage.ts'
import type { OpenStorage } from '../process/open-storage.ts'
import { ConfigInvalid, loadConfig, type Config } from '../settings/config.ts'
import { CONFIG_OPTION, type Command } from './command.ts'

const STATEMENT_MS_MAX = 30_000

/** Looks at everything that often goes wrong, and says how to mend it. Changes nothing, and works whether the gateway runs or not. */
export const doctor: Command = {
  usage: 'doctor [--json] [--config FILE]',
  options: {
    '--json': 'Print what is found as JSON, one object a line.',
    ...CONFIG_OPTION,
  },
  async run(words) {
    const { values } = parseArgs({
      args: [...words],
      options: { config: { type: 'string' }, json: { type: 'boolean' } },
    })
    const findings = await find(values.config ?? null)
    process.stdout.write(
      values.json === true ? findingsToLines(findings) : findingsToText(findings, 'Nothing is wrong.'),
    )
    return findings.some(({ level }) => level !== 'info') ? 1 : 0
  },
}

async function find(file: string | null): Promise<Finding[]> {
  let config: Config
  try {
    config = loadConfig({ environment: process.env, file })
  } catch (error) {
    if (error instanceof ConfigInvalid) return [settingsInvalid(error.message)]
    throw error
  }
  let storage: OpenStorage
  try {
    storage = await findUnmigratedStorage(config, createLogger({ level: 'silent' }))
  } catch (error) {
    return examine({ config, stored: null, whyNot: messageOf(error) })
  }
  const database = connectDatabase({
    connectionString: storage.connectionString,
    poolSize: 2,
    statementTimeoutMs: STATEMENT_MS_MAX,
  })
  try {
    return await lookWithoutGateway(config, database)
  } finally {
    await database.close()
    await storage.close()
  }
}

export function settingsInvalid(problems: string): Finding {
  return {
    code: 'settings_invalid',
    level: 'critical',
    subject: null,
    message: problems,
    mend: 'Correct the settings; docs/configuration.md lists them. `parkway config check` reads them again.',
  }
}
