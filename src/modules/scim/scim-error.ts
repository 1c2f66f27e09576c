import { AppError } from '../../kernel/app-error.ts'

/** The kinds of errors that RFC 7644 names and this gateway answers. */
type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidValue'
  | 'invalidSyntax'
  | 'mutability'
  | 'noTarget'
  | 'tooMany'

/** A request that is refused with 400. */
export function scimError(scimType: ScimType, message: string): AppError {
  return new AppError('invalid_value', message, { details: { scimType } })
}

/** Something else of the account has this already. */
export function notUnique(message: string): AppError {
  return new AppError('conflict', message, { details: { scimType: 'uniqueness' } })
}

export function changedMeanwhile(): AppError {
  return new AppError(
    'precondition_failed',
    'The resource has another version than If-Match names. Read it again before you change it.',
  )
}
