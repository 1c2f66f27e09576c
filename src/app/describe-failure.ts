import { AppError } from '../kernel/app-error.ts'
import { CatalogInvalid } from '../modules/catalog/catalog.ts'
import { StorageError } from '../storage/storage-error.ts'
import { ConfigInvalid } from './config.ts'
import { ProcessNotStarted } from './gateway-process.ts'

const EXPECTED = [AppError, CatalogInvalid, ConfigInvalid, StorageError, ProcessNotStarted]

/** What an operator is told: a sentence for what can go wrong, the stack for what should not. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (EXPECTED.some((kind) => error instanceof kind)) return error.message
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const advice = ADVICE[code]
  if (advice !== undefined) return `${error.message}. ${advice}`
  const isTold = code.startsWith('ERR_PARSE_ARGS_') || ('syscall' in error && code !== '')
  return isTold ? error.message : (error.stack ?? error.message)
}

const ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE: 'Another program listens there; set PORT to another port.',
  EACCES: 'This user may not do that; for ports below 1024 choose a higher one.',
  EADDRNOTAVAIL: 'HOST is not an address of this machine.',
  ENOTFOUND: 'HOST is not a name this machine knows.',
}
