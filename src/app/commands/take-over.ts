import { takeOverInstallation } from '../../storage/installation.ts'
import { changeDatabase } from './change-database.ts'
import { CONFIG_OPTION, type Command } from './command.ts'

/** Ends the pause of a restored copy whose original is gone. */
export const takeOver: Command = {
  usage: 'take-over [--config FILE]',
  options: CONFIG_OPTION,
  async run(words) {
    const wasPaused = await changeDatabase(words, takeOverInstallation)
    process.stdout.write(
      wasPaused
        ? 'This gateway continues the tasks and deployments of the backup. If it is running, start it again.\n'
        : 'This gateway is not a paused copy. Nothing was changed.\n',
    )
    return 0
  },
}
