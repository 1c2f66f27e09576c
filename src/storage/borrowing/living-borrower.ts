/**
 * The borrower `$1`, if nobody has closed it, and nobody does before the transaction ends. Lightly locked, because a heavier
 * lock would keep the process from saying that it is alive for as long as others of its transactions follow each other.
 */
export const FROM_LIVING_BORROWER = 'FROM borrowers WHERE id = $1 AND closed_at IS NULL FOR KEY SHARE'
