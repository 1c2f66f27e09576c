import { Command, CommanderError } from 'commander'
import { ApiFailure } from './api/api-failure.ts'
import { connectionCut, isCut } from './api/read-body.ts'
import { defaultOf } from './command-group.ts'
import { CommandFailure } from './command-failure.ts'
import { EXIT } from './exit-codes.ts'
import { watchInterruptions } from './interruption.ts'
import { printable } from './output/printable.ts'
import { endWithReader } from './output/terminal.ts'

/** Returns the name that a word was probably meant to be, or null. */
type FindNearest = (word: string, names: readonly string[]) => Promise<string | null>

/** Runs a client command and returns its exit code. */
export async function runClient(
  command: Command,
  words: readonly string[],
  findNearest: FindNearest,
): Promise<number> {
  endWithReader(process)
  watchInterruptions()
  // A stream can fail outside of any promise, such as a file that becomes unreadable while it is sent.
  process.on('uncaughtException', (error) => process.exit(report(error)))
  try {
    // The parent gives the usage line its first word.
    const program = new Command('parkway').addCommand(command)
    prepare(program)
    await requireKnownCommand(command, words, findNearest)
    await program.parseAsync([command.name(), ...words], { from: 'user' })
    return EXIT.ok
  } catch (error) {
    return report(error)
  }
}

/**
 * Makes commander throw instead of ending the process, and report errors as this program does. It copies the settings only to commands
 * that are created later.
 */
function prepare(command: Command): void {
  command.exitOverride()
  command.configureOutput({
    outputError: (text, write) => write(printable(text.replace(/^error: /, 'parkway: '))),
  })
  for (const child of command.commands) prepare(child)
}

/** A misspelt command of a group would be taken for an argument of the command that the group means by default. */
async function requireKnownCommand(
  group: Command,
  [word = '']: readonly string[],
  findNearest: FindNearest,
): Promise<void> {
  const meant = defaultOf(group)
  if (meant === null || meant.registeredArguments.length > 0 || word === '' || word.startsWith('-')) return
  const names = group.commands.map((command) => command.name())
  if (word === 'help' || names.includes(word)) return
  const near = await findNearest(word, names)
  throw new CommandFailure(
    EXIT.usage,
    `There is no command "${group.name()} ${word}".${near === null ? '' : ` Did you mean "parkway ${group.name()} ${near}"?`}`,
    `See "parkway ${group.name()} --help".`,
  )
}

function report(error: unknown): number {
  // commander has printed the help, or what is wrong with the words.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (isCut(error)) return report(connectionCut())
  if (!(error instanceof CommandFailure)) {
    const reason = printable(error instanceof Error ? error.message : String(error))
    process.stderr.write(`parkway: The command failed unexpectedly: ${reason}\n`)
    process.stderr.write(
      '  The gateway may be of another version than this program, or no Parkway gateway.\n',
    )
    return EXIT.failed
  }
  const requestId = error instanceof ApiFailure ? error.requestId : null
  process.stderr.write(`parkway: ${printable(error.message)}\n`)
  if (error.advice !== null) process.stderr.write(`  ${printable(error.advice)}\n`)
  if (requestId !== null) process.stderr.write(`  Request id: ${printable(requestId)}\n`)
  return error.exitCode
}
