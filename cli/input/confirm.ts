import { CommandFailure } from '../command-failure.ts'
import { printable } from '../output/printable.ts'
import { EXIT } from '../exit-codes.ts'

/** Whether a person can be asked. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY
}

/** Asks before something that cannot be taken back, or costs money. Throws unless the answer is yes. */
export async function requireConsent(question: string, isGiven: boolean): Promise<void> {
  if (isGiven) return
  if (!isInteractive())
    throw new CommandFailure(
      EXIT.usage,
      'This needs a confirmation, and there is no terminal to ask on.',
      'Confirm with --yes.',
    )
  const { confirm } = await import('@clack/prompts')
  const answer = await confirm({ message: printable(question), initialValue: false, output: process.stderr })
  if (answer !== true) throw new CommandFailure(EXIT.interrupted, 'Nothing was changed.')
}
