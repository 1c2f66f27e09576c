import { forgetSealed as deleteSealed } from '../../storage/installation.ts'
import { changeDatabase } from './change-database.ts'
import { CONFIG_OPTION, type Command } from './command.ts'

/** Deletes hub tokens and stored bodies whose sealing key is lost, so that the gateway can start with another key. */
export const forgetSealed: Command = {
  usage: 'forget-sealed [--config FILE]',
  options: CONFIG_OPTION,
  async run(words) {
    const count = await changeDatabase(words, deleteSealed)
    process.stdout.write(`Deleted ${count} sealed secrets. The next start may use another sealing key.\n`)
    return 0
  },
}
