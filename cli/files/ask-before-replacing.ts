import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { printable } from '../output/printable.ts'
import { explainFileError } from './explain-file-error.ts'

/**
 * Asks on a terminal before a file is replaced, and refuses without one. Also refuses a directory that does not exist. Call it before
 * anything is paid for. Returns whether a file that exists may be replaced.
 */
export async function askBeforeReplacing(
  path: string,
  { isForced }: { readonly isForced: boolean },
): Promise<boolean> {
  if (path === '-')
    throw new CommandFailure(EXIT.usage, 'This command does not write to stdout.', 'Name a file with -o.')
  if (!existsSync(dirname(path)))
    throw explainFileError(path, Object.assign(new Error('no such directory'), { code: 'ENOENT' }))
  if (isForced || !existsSync(path)) return isForced
  if (process.stdin.isTTY && process.stderr.isTTY && (await confirmReplacing(path))) return true
  throw new CommandFailure(
    EXIT.failed,
    `${path} exists.`,
    'Choose another name with -o, or replace it with --force.',
  )
}

async function confirmReplacing(path: string): Promise<boolean> {
  const { confirm, isCancel } = await import('@clack/prompts')
  const options = {
    message: printable(`${path} exists. Replace it?`),
    initialValue: false,
    output: process.stderr,
  }
  const answer = await confirm(options)
  if (isCancel(answer)) throw new CommandFailure(EXIT.interrupted, 'Nothing was changed.')
  return answer
}
