import type { Caller } from '../keys/keys.ts'

/** Who votes: a person or a service account with all of their keys and sessions, or a key that belongs to nobody. */
export interface Voter {
  /** The key that is stored with the vote. */
  readonly keyId: string
  /** Null for a key that belongs to nobody. */
  readonly ownerId: string | null
}

export function voterOf({
  keyId,
  session,
  userId,
  serviceAccountId,
}: Pick<Caller, 'keyId' | 'session' | 'userId' | 'serviceAccountId'>): Voter {
  // A session that continues in another project has another key there.
  return { keyId: session?.keyId ?? keyId, ownerId: userId ?? serviceAccountId ?? null }
}

/** SQL: votes with their keys. */
export const VOTES = 'compare_votes AS vote LEFT JOIN api_keys AS key ON key.id = vote.voter_id'

/** SQL: the id of who gave a vote, whichever key they used. */
export const VOTER_ID = 'coalesce(key.user_id, key.service_account_id, vote.voter_id)'

export function voterIdOf({ keyId, ownerId }: Voter): string {
  return ownerId ?? keyId
}
