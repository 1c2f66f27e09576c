import { AppError } from '../../kernel/app-error.ts'

/** Returns the error for a key that is restricted to some models: it may not add models, or start and stop other ones. */
export function notAllowed(): AppError {
  return new AppError('model_not_allowed', 'This key may use only some models, and this is not one of them.')
}
