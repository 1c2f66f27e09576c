import { AppError } from '../../kernel/app-error.ts'
import type { Caller } from '../keys/keys.ts'
import { asRefusal } from './batch-caller.ts'
import type { ClaimedBatch } from './claim-batch.ts'
import { failBatch, validateBatch, type ValidateOptions } from './validate-batch.ts'

/** A batch whose check was begun this often without an end is assumed to crash the worker. */
const CHECKS_MAX = 20

interface BeginOptions extends Omit<ValidateOptions, 'caller'> {
  readonly readCaller: () => Promise<Caller>
}

/** Checks the lines of a batch, unless its key may not ask. Returns whether they may be asked. */
export async function beginBatch(
  { batch, claim }: ClaimedBatch,
  { readCaller, ...options }: BeginOptions,
): Promise<boolean> {
  if (batch.status !== 'validating') return true
  const caller = claim.number > CHECKS_MAX ? CHECK_FAILED : await readCaller().catch(asRefusal)
  if (caller instanceof AppError) {
    const { code, message } = caller
    await failBatch(options.database, claim, [{ code, message, param: null, line: null }])
    return false
  }
  return (await validateBatch(batch, claim, { ...options, caller })) === 'begun'
}

const CHECK_FAILED = new AppError('internal_error', 'The lines of the batch could not be checked.')
