import { Command } from 'commander'

interface CommandGroup {
  readonly name: string
  readonly summary: string
  /** A command line that works. */
  readonly example: string
  /** The command that is meant if none is named. */
  readonly byDefault?: Command
  readonly others: readonly Command[]
}

const DEFAULTS = new WeakMap<Command, Command>()

/** Returns the command that a group means if none is named. */
export function defaultOf(group: Command): Command | null {
  return DEFAULTS.get(group) ?? null
}

/** Creates a command whose work is done by the commands in it. */
export function commandGroup({ name, summary, example, byDefault, others }: CommandGroup): Command {
  const group = new Command(name).description(summary).addHelpText('after', `\nExample:\n  ${example}`)
  if (byDefault !== undefined) {
    group.addCommand(byDefault, { isDefault: true })
    DEFAULTS.set(group, byDefault)
  }
  for (const command of others) group.addCommand(command)
  return group
}
