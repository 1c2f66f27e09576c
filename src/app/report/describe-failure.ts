import { AppError } from '../../kernel/app-error.ts'
import { CatalogInvalid } from '../../modules/catalog/catalog.ts'
import { StorageError } from '../../storage/storage-error.ts'
import { ConfigInvalid } from '../settings/config.ts'
import { ProcessNotStarted } from '../process/gateway-process.ts'
import { UsageError } from '../settings/usage-error.ts'
import { lookupTable } from '../../kernel/lookup-table.ts'

const EXPECTED = [AppError, CatalogInvalid, ConfigInvalid, StorageError, ProcessNotStarted]

/** Returns the message for the operator: a sentence for an expected error, the stack for a defect. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (EXPECTED.some((kind) => error instanceof kind)) return error.message
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const advice = ADVICE[code]
  if (advice !== undefined) return `${error.message}. ${advice}`
  return 'syscall' in error && code !== '' ? error.message : (error.stack ?? error.message)
}

/** Returns the message for an invalid command line, or null for any other error. */
export function describeMisuse(error: unknown): string | null {
  if (error instanceof UsageError) return error.message
  const isParsing =
    error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_')
  // The text after the first sentence is advice for programmers.
  return isParsing ? `${error.message.split(/\.\s|\n/, 1)[0]?.replace(/\.$/, '')}.` : null
}

const ADVICE = lookupTable<string>({
  EADDRINUSE: 'Another program listens there; set PORT to another port.',
  EACCES: 'This user may not do that; for ports below 1024 choose a higher one.',
  EADDRNOTAVAIL: 'HOST is not an address of this machine.',
  ENOTFOUND: 'HOST is not a name this machine knows.',
})
