import { parseArgs } from 'node:util'
import { verifyLedger as findDifferences } from '../../modules/ledger/ledger.ts'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { loadConfig } from '../settings/config.ts'
import { findStorage } from '../process/find-storage.ts'
import { CONFIG_OPTION, type Command } from './command.ts'

/** Long, because whole tables are summed up. */
const STATEMENT_MS_MAX = 600_000

/** Recomputes all balances from the ledger entries. Works whether the gateway runs or not. */
export const verifyLedger: Command = {
  usage: 'ledger verify [--config FILE]',
  options: CONFIG_OPTION,
  async run(words) {
    const { values } = parseArgs({ args: [...words], options: { config: { type: 'string' } } })
    const config = loadConfig({ environment: process.env, file: values.config ?? null })
    const storage = await findStorage(config, createLogger({ level: 'silent' }))
    const database = connectDatabase({
      connectionString: storage.connectionString,
      poolSize: 1,
      statementTimeoutMs: STATEMENT_MS_MAX,
    })
    try {
      const checks = await findDifferences(database)
      for (const { rule, differences } of checks) {
        process.stdout.write(`${differences.length === 0 ? 'holds ' : 'BROKEN'}  ${rule}\n`)
        for (const difference of differences) process.stdout.write(`          ${difference}\n`)
      }
      return checks.every(({ differences }) => differences.length === 0) ? 0 : 1
    } finally {
      await database.close()
      await storage.close()
    }
  },
}
