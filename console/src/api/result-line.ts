/** A line of a file of results of a batch. */
export interface ResultLine {
  readonly custom_id: string
  readonly response: { readonly status_code: number; readonly body: unknown } | null
  readonly error: { readonly code: string; readonly message: string } | null
}
