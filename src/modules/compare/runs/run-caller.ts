import { AppError } from '../../../kernel/app-error.ts'
import { keepTrying } from '../../../kernel/keep-trying.ts'
import { withLabels, type Caller, type Keys } from '../../keys/keys.ts'
import type { Run } from './run.ts'

/** Reads the key of a run again, because it may have been revoked or suspended. Throws an `AppError` if it may ask nothing. */
export async function readRunCaller(
  keys: Pick<Keys, 'callerOf'>,
  { accountId, keyId, labels }: Run,
  isGivenUp: () => boolean,
): Promise<Caller> {
  const read = () =>
    keys.callerOf(accountId, keyId).catch((error: unknown) => {
      if (error instanceof AppError) return error
      throw error
    })
  const caller = await keepTrying(read, isGivenUp)
  if (caller instanceof AppError) throw caller
  if (caller.permissions.has('models.use')) return withLabels(caller, labels)
  throw new AppError('forbidden', 'The API key that asked for this may not ask models any more.')
}
