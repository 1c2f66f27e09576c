import { parseArgs } from 'node:util'
import { listArchives, listParts, type StoredArchive } from '../../storage/archive/stored-archives.ts'
import { CONFIG_OPTION, type Command } from './command.ts'
import { withArchives } from './open-archives.ts'

/** Lists archives as the database knows them, and reads no file. */
export const archiveList: Command = {
  usage: 'archive list [--config FILE]',
  options: { ...CONFIG_OPTION },
  async run(words) {
    const { values } = parseArgs({ args: [...words], options: { config: { type: 'string' } } })
    return withArchives(values.config, async ({ database }) => {
      const archives = await listArchives(database)
      if (archives.length === 0) process.stdout.write('No month is archived.\n')
      for (const archive of archives) {
        const parts = await listParts(database, archive.id)
        const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
        const rows = parts.reduce((sum, part) => sum + part.rows, 0)
        process.stdout.write(
          `${archive.month.name}  ${archive.table.padEnd(14)}  ${describeState(archive).padEnd(8)}  ${rows} rows  ${bytes} bytes in ${parts.length} files\n`,
        )
      }
      return 0
    })
  },
}

/** `only` says that the rows are in no table any more. */
function describeState({ status, droppedAt }: StoredArchive): string {
  return droppedAt === null ? status : 'only'
}
