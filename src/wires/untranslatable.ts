import { AppError } from '../kernel/app-error.ts'

/** A feature that only providers of the same wire support, requested from a provider that is reached through the chat format. */
export class Untranslatable extends AppError {
  constructor(message: string, param: string) {
    super('unsupported_parameter', message, { param })
  }
}
