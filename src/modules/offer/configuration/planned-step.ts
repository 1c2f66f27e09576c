import type { Queryable } from '../../../storage/database.ts'

/** One change of many that are made together. */
export interface PlannedStep {
  readonly kind: 'provider' | 'model' | 'price'
  readonly action: 'create' | 'change' | 'delete'
  /** Of the provider or the model. */
  readonly name: string
  readonly change: {
    /** For people and the audit log. Without secrets. */
    readonly difference: Readonly<Record<string, unknown>>
    write(transaction: Queryable): Promise<bigint>
  }
}
