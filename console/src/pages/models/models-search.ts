/** The filters of the list, as they are in the address. */
export interface ModelsSearch {
  readonly text?: string | undefined
  readonly kind?: string | undefined
  readonly vendor?: string | undefined
  readonly capability?: string | undefined
  readonly ready?: boolean | undefined
}
