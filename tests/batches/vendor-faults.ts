/** What a vendor does wrong. */
export interface VendorFaults {
  /** Looks at a batch before it ends. */
  looks?: number
  /** Refuses so many submissions with 429. */
  throttled?: number
  /** Makes so many batches and closes the connection without an answer. */
  unanswered?: number
  /** Stores so many uploads, and never answers. */
  silentUploads?: number
  /** Never answers so many submissions, and makes their batches only when they are let in. */
  held?: number
  /** Forgets so many batches, unpaid. */
  lost?: number
  /** Refuses every batch. */
  refuses?: boolean
  /** Lines of these prompts get an error instead of an answer. */
  fails?: (prompt: string) => boolean
  /** Lines of these prompts expire. */
  expires?: (prompt: string) => boolean
  /** Sends each result twice, and results of other ids. */
  isTwice?: boolean
  /** Replaces the usage of answers. */
  usage?: object
  /** Sends the client elsewhere for results. */
  redirect?: string
  /** Ends batches only when they are cancelled, with this many answers. */
  answersWhenCancelled?: number
}
