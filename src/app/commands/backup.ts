import { parseArgs } from 'node:util'
import { backupDatabase } from '../../storage/backup/backup.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { loadConfig } from '../settings/config.ts'
import { findStorage } from '../process/find-storage.ts'
import { UsageError } from '../settings/usage-error.ts'
import { CONFIG_OPTION, type Command } from './command.ts'

/** Writes one consistent archive, whether the gateway runs or not. */
export const backup: Command = {
  usage: 'backup FILE [--force] [--config FILE]',
  options: {
    FILE: 'The file to write.',
    '--force': 'Replaces a file that is there already, once the new one is whole.',
    ...CONFIG_OPTION,
  },
  async run(words) {
    const { positionals, values } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: { force: { type: 'boolean', default: false }, config: { type: 'string' } },
    })
    const [file] = positionals
    if (file === undefined || positionals.length > 1)
      throw new UsageError('A backup needs the name of one file to write.')
    const config = loadConfig({ environment: process.env, file: values.config ?? null })
    const logger = createLogger({ level: 'silent' })
    const storage = await findStorage(config, logger)
    try {
      const manifest = await backupDatabase({
        connectionString: storage.connectionString,
        file,
        overwrite: values.force,
        logger,
      })
      const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
      process.stdout.write(`Wrote ${rows} rows of ${manifest.tables.length} tables to ${file}\n`)
      return 0
    } finally {
      await storage.close()
    }
  },
}
