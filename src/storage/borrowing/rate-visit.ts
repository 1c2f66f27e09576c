/** One request to the bucket. All amounts are whole units. */
export interface RateVisit {
  readonly id: string
  readonly perMinute: number
  /** The loan that this visit closes, and its epoch. */
  readonly closed: number
  readonly closedEpoch: number
  /** The part of the closed loan that is kept as a new loan. */
  readonly kept: number
  /** Unspent units; negative if more was used than borrowed. */
  readonly givenBack: number
  readonly needed: number
  readonly wanted: number
}

/** The response of the bucket. */
export interface RateGrant {
  readonly taken: number
  readonly borrowed: number
  /** In sixty-thousandths of a unit. */
  readonly levelLeft: number
  readonly lentInAll: number
  readonly loanEpoch: number
  readonly loanMs: number
}
