import { AppError } from '../../kernel/app-error.ts'
import { CatalogInvalid } from '../../modules/catalog/catalog.ts'
import { StorageError } from '../../storage/storage-error.ts'
import { ConfigInvalid } from '../settings/config.ts'
import { ProcessNotStarted } from '../process/gateway-process.ts'
import { UsageError } from '../settings/usage-error.ts'

const EXPECTED = [AppError, CatalogInvalid, ConfigInvalid, StorageError, ProcessNotStarted]

/** What an operator is told: a sentence for what can go wrong, the stack for what should not. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (EXPECTED.some((kind) => error instanceof kind)) return error.message
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const advice = ADVICE[code]
  if (advice !== undefined) return `${error.message}. ${advice}`
  return 'syscall' in error && code !== '' ? error.message : (error.stack ?? error.message)
}

/** The sentence for a command line that is wrong; null for every other failure. */
export function describeMisuse(error: unknown): string | null {
  if (error instanceof UsageError) return error.message
  const isParsing =
    error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_')
  // What follows the first sentence is advice for programmers.
  return isParsing ? `${error.message.split(/\.\s|\n/, 1)[0]?.replace(/\.$/, '')}.` : null
}

const ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE: 'Another program listens there; set PORT to another port.',
  EACCES: 'This user may not do that; for ports below 1024 choose a higher one.',
  EADDRNOTAVAIL: 'HOST is not an address of this machine.',
  ENOTFOUND: 'HOST is not a name this machine knows.',
}
