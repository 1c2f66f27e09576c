import { readFileSync, statfsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import { MIGRATIONS_DIRECTORY, readMigrations } from '../../storage/migrate.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { sortFindings, type Finding } from '../doctor/finding.ts'
import { findingsToLines, findingsToText } from '../doctor/print-findings.ts'
import { findUnmigratedStorage } from '../process/find-storage.ts'
import { ConfigInvalid, loadConfig, type Config } from '../settings/config.ts'
import { UsageError } from '../settings/usage-error.ts'
import { compareSettings } from '../upgrade/compare-settings.ts'
import { judgeUpgrade } from '../upgrade/judge-upgrade.ts'
import { readUpgrade } from '../upgrade/read-upgrade.ts'
import { CONFIG_OPTION, type Command } from './command.ts'
import { settingsInvalid } from './doctor.ts'

const STATEMENT_MS_MAX = 30_000

/** Run with the new release beside the running one. Changes nothing. */
export const checkUpgrade: Command = {
  usage: 'upgrade check [--settings FILE] [--json] [--config FILE]',
  options: {
    '--settings FILE':
      'What `parkway config check` of the running release printed: names settings that are new or gone.',
    '--json': 'Print what is found as JSON, one object a line.',
    ...CONFIG_OPTION,
  },
  async run(words) {
    const { values } = parseArgs({
      args: [...words],
      options: { config: { type: 'string' }, json: { type: 'boolean' }, settings: { type: 'string' } },
    })
    const findings = sortFindings([
      ...(values.settings === undefined ? [] : compareSettings(readText(values.settings))),
      ...(await judgeDatabase(values.config ?? null)),
    ])
    process.stdout.write(
      values.json === true ? findingsToLines(findings) : findingsToText(findings, 'Nothing will change.'),
    )
    return findings.some(({ level }) => level !== 'info') ? 1 : 0
  },
}

async function judgeDatabase(file: string | null): Promise<Finding[]> {
  let config: Config
  try {
    config = loadConfig({ environment: process.env, file })
  } catch (error) {
    if (error instanceof ConfigInvalid) return [settingsInvalid(error.message)]
    throw error
  }
  const storage = await findUnmigratedStorage(config, createLogger({ level: 'silent' }))
  const { connectionString } = storage
  const database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: STATEMENT_MS_MAX })
  try {
    const migrations = await readMigrations(MIGRATIONS_DIRECTORY)
    return judgeUpgrade(await readUpgrade(database), migrations, readFreeBytes(config))
  } finally {
    await database.close()
    await storage.close()
  }
}

/** Null if the database is elsewhere. */
function readFreeBytes({ databaseUrl, dataDir }: Config): number | null {
  if (databaseUrl !== null) return null
  const { bavail, bsize } = statfsSync(dataDir)
  return bavail * bsize
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new UsageError(`The file ${file} cannot be read.`)
  }
}
