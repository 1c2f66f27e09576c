/** A page of a vendor's list of models. */
export interface ModelPage {
  readonly url: string
  /** Reads the names by which routes call the models. Null if the answer is no list. */
  readonly read: (answer: unknown) => ModelNames | null
}

interface ModelNames {
  readonly names: readonly string[]
  /** Of the page that follows. */
  readonly next?: string | undefined
}
