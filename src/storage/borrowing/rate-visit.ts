/** What one visit at the bucket asks. All amounts are whole units. */
export interface RateVisit {
  readonly id: string
  readonly perMinute: number
  /** The loan that ends with this visit, and the epoch it was made in. */
  readonly closed: number
  readonly closedEpoch: number
  /** Of the closed loan, what stays in hand as a new one. */
  readonly kept: number
  /** Unspent units; negative when more was used than there was. */
  readonly givenBack: number
  readonly needed: number
  readonly wanted: number
}

/** What the bucket answers. */
export interface RateGrant {
  readonly taken: number
  readonly borrowed: number
  /** In sixty-thousandths of a unit. */
  readonly levelLeft: number
  readonly lentInAll: number
  readonly loanEpoch: number
  readonly loanMs: number
}
