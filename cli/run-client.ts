import { Command, CommanderError } from 'commander'
import { ApiFailure } from './api/api-failure.ts'
import { connectionCut, isCut } from './api/read-body.ts'
import { CommandFailure } from './command-failure.ts'
import { EXIT } from './exit-codes.ts'
import { watchInterruptions } from './interruption.ts'
import { printable } from './output/printable.ts'
import { endWithReader } from './output/terminal.ts'

/** Runs a client command and returns its exit code. */
export async function runClient(command: Command, words: readonly string[]): Promise<number> {
  endWithReader(process)
  watchInterruptions()
  // Of streams that nobody awaits, such as a file that cannot be read while it is sent.
  process.on('uncaughtException', (error) => process.exit(report(error)))
  try {
    // The parent gives the usage line its first word.
    const program = new Command('parkway').addCommand(command)
    inheritExit(program)
    await program.parseAsync([command.name(), ...words], { from: 'user' })
    return EXIT.ok
  } catch (error) {
    return report(error)
  }
}

/** Makes commander throw instead of ending the process. It copies the setting only to commands that are created later. */
function inheritExit(command: Command): void {
  command.exitOverride()
  for (const child of command.commands) inheritExit(child)
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
