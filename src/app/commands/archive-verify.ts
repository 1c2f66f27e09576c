import { parseArgs } from 'node:util'
import { listArchives } from '../../storage/archive/stored-archives.ts'
import { verifyArchive } from '../../storage/archive/verify-archive.ts'
import { CONFIG_OPTION, type Command } from './command.ts'
import { requireMonth, withArchives } from './open-archives.ts'

/** Reads all files of archives back. */
export const archiveVerify: Command = {
  usage: 'archive verify [--month YYYY-MM] [--config FILE]',
  options: { '--month YYYY-MM': 'Read the archives of this month (UTC) only.', ...CONFIG_OPTION },
  async run(words) {
    const { values } = parseArgs({
      args: [...words],
      options: { config: { type: 'string' }, month: { type: 'string' } },
    })
    const month = values.month === undefined ? undefined : requireMonth(values.month)
    return withArchives(values.config, async (archives) => {
      let isWhole = true
      for (const archive of await listArchives(archives.database, { month })) {
        if (archive.status !== 'complete') continue
        const differences = await verifyArchive(archives, archive)
        isWhole &&= differences.length === 0
        const verdict = differences.length === 0 ? 'holds ' : 'BROKEN'
        process.stdout.write(`${verdict}  ${archive.table} of ${archive.month.name}: ${archive.rows} rows\n`)
        for (const difference of differences) process.stdout.write(`          ${difference}\n`)
      }
      return isWhole ? 0 : 1
    })
  },
}
