/**
 * Selects the borrower `$1` if it is open, and keeps it open until the transaction ends. A light lock, because a stronger one
 * would block the renewal of the lease while transactions of the process follow each other.
 */
export const FROM_LIVING_BORROWER = 'FROM borrowers WHERE id = $1 AND closed_at IS NULL FOR KEY SHARE'
