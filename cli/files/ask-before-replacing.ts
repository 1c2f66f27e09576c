import { existsSync } from 'node:fs'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'

/** Asks on a terminal before a file is replaced, and refuses without one. Call it before anything is paid for. */
export async function askBeforeReplacing(
  path: string,
  { isForced }: { readonly isForced: boolean },
): Promise<void> {
  if (isForced || !existsSync(path)) return
  if (process.stdin.isTTY && process.stderr.isTTY && (await confirmReplacing(path))) return
  throw new CommandFailure(
    EXIT.failed,
    `${path} exists.`,
    'Choose another name with -o, or replace it with --force.',
  )
}

async function confirmReplacing(path: string): Promise<boolean> {
  const { confirm, isCancel } = await import('@clack/prompts')
  const options = { message: `${path} exists. Replace it?`, initialValue: false, output: process.stderr }
  const answer = await confirm(options)
  if (isCancel(answer)) throw new CommandFailure(EXIT.interrupted, 'Nothing was changed.')
  return answer
}
