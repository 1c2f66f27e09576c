import { AppError } from '../../kernel/app-error.ts'

/** A key that is restricted to some models neither adds models nor starts and stops others. */
export function notAllowed(): AppError {
  return new AppError('model_not_allowed', 'This key may use only some models, and this is not one of them.')
}
