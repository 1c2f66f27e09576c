import { AppError } from '../../../kernel/app-error.ts'
import type { NanoUsd } from '../../../kernel/money.ts'

/** The request may not cost as much as its prompt alone does. */
export class AmountTooSmall extends AppError {
  readonly neededNanoUsd: NanoUsd

  constructor(neededNanoUsd: NanoUsd) {
    super('budget_exceeded', 'What is left of the amount does not cover the request.')
    this.neededNanoUsd = neededNanoUsd
  }
}
