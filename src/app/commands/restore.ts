import { parseArgs } from 'node:util'
import { restoreDatabase } from '../../storage/backup/restore.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { loadConfig } from '../settings/config.ts'
import { openStorage } from '../process/open-storage.ts'
import { UsageError } from '../settings/usage-error.ts'
import { CONFIG_OPTION, type Command } from './command.ts'

const PAUSED =
  'It is a paused copy: it serves requests, but leaves tasks, deployments and files of the original alone. If the original is gone, run `parkway take-over`.\n'

/** Loads an archive into an empty database, or replaces the content with `--overwrite`. The gateway must not be running. */
export const restore: Command = {
  usage: 'restore FILE [--overwrite] [--take-over] [--config FILE]',
  options: {
    FILE: 'The backup to read.',
    '--overwrite': 'Replaces the data of a database that is not empty.',
    '--take-over': 'The gateway of the backup is gone: this one continues its tasks and deployments.',
    ...CONFIG_OPTION,
  },
  async run(words) {
    const { positionals, values } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        overwrite: { type: 'boolean', default: false },
        'take-over': { type: 'boolean', default: false },
        config: { type: 'string' },
      },
    })
    const [file] = positionals
    if (file === undefined || positionals.length > 1)
      throw new UsageError('A restore needs the name of one file to read.')
    const config = loadConfig({ environment: process.env, file: values.config ?? null })
    const storage = await openStorage(config, createLogger({ level: 'silent' }))
    try {
      const manifest = await restoreDatabase({
        connectionString: storage.connectionString,
        file,
        overwrite: values.overwrite,
        takeOver: values['take-over'],
      })
      const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
      process.stdout.write(`Restored ${rows} rows of ${manifest.tables.length} tables from ${file}\n`)
      if (!values['take-over']) process.stdout.write(PAUSED)
      return 0
    } finally {
      await storage.close()
    }
  },
}
