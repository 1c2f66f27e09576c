import { AppError } from '../kernel/app-error.ts'
import { CatalogInvalid } from '../modules/catalog/catalog.ts'
import { StorageError } from '../storage/storage-error.ts'
import { ConfigInvalid } from './config.ts'

/** What an operator is told: a sentence for what can go wrong, the stack for what should not. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isExpected = [AppError, CatalogInvalid, ConfigInvalid, StorageError].some(
    (kind) => error instanceof kind,
  )
  if (isExpected) return error.message
  if ('code' in error && typeof error.code === 'string')
    return SYSTEM_ERRORS[error.code]?.(error) ?? error.message
  return error.stack ?? error.message
}

const SYSTEM_ERRORS: Readonly<Record<string, (error: Error) => string>> = {
  EADDRINUSE: (error) => `${error.message}. Another program listens there; set PORT to another port.`,
  EACCES: (error) => `${error.message}. This user may not do that; for ports below 1024 choose a higher one.`,
  EADDRNOTAVAIL: (error) => `${error.message}. HOST is not an address of this machine.`,
  ERR_PARSE_ARGS_UNKNOWN_OPTION: (error) => error.message,
}
