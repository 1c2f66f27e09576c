import { AppError } from '../kernel/app-error.ts'

/** What only a provider that speaks the wire itself can do, asked of one that is reached through the chat form. */
export class Untranslatable extends AppError {
  constructor(message: string, param: string) {
    super('unsupported_parameter', message, { param })
  }
}
