import { createHash, randomBytes } from 'node:crypto'
import type { Queryable } from '../../storage/database.ts'

/** What a challenge was given out for. An answer to it counts for nothing else. */
type Purpose = 'sign-in' | 'confirm' | 'register' | 'join'

export interface ChallengeOrder {
  readonly purpose: Purpose
  /** Whatever the answer has to come from: the cookie of a browser, a session, the code of a link. */
  readonly boundTo: readonly string[]
  readonly userHandle?: Buffer
  /** The network of somebody who is not signed in. */
  readonly network?: string
}

/** For as long as a browser waits for its person. */
export const CHALLENGE_LIFE_MS = 5 * 60_000
const CHALLENGE_BYTES = 32
/** More than the people behind one address open at a time. The oldest give way. */
const CHALLENGES_OF_NETWORK_MAX = 1_000

/** Makes a challenge that works once, for one purpose and one browser. */
export async function issueChallenge(
  queryable: Queryable,
  { purpose, boundTo, userHandle, network }: ChallengeOrder,
): Promise<Buffer> {
  const challenge = randomBytes(CHALLENGE_BYTES)
  await queryable.query(
    `INSERT INTO passkey_challenges (challenge_hash, purpose, bound_to, user_handle, network, expires_at)
     VALUES ($1, $2, $3, $4, $5, now() + $6 * interval '1 millisecond')`,
    [hash(challenge), purpose, hashBinding(boundTo), userHandle ?? null, network ?? null, CHALLENGE_LIFE_MS],
  )
  if (network !== undefined) {
    await queryable.query(
      `DELETE FROM passkey_challenges WHERE challenge_hash IN (
         SELECT challenge_hash FROM passkey_challenges WHERE network = $1 ORDER BY expires_at DESC OFFSET $2)`,
      [network, CHALLENGES_OF_NETWORK_MAX],
    )
  }
  return challenge
}

/**
 * Uses the challenge of an answer up, whatever comes of the answer. Returns null if it is unknown, used, expired, or was given out for
 * something else or to another browser.
 */
export async function takeChallenge(
  queryable: Queryable,
  challenge: Buffer,
  { purpose, boundTo }: Pick<ChallengeOrder, 'purpose' | 'boundTo'>,
): Promise<{ userHandle: Buffer | null } | null> {
  const [row] = await queryable.query<{ user_handle: Buffer | null }>(
    `DELETE FROM passkey_challenges
     WHERE challenge_hash = $1 AND purpose = $2 AND bound_to = $3 AND expires_at > now() RETURNING user_handle`,
    [hash(challenge), purpose, hashBinding(boundTo)],
  )
  return row === undefined ? null : { userHandle: row.user_handle }
}

export async function sweepChallenges(queryable: Queryable): Promise<void> {
  await queryable.query('DELETE FROM passkey_challenges WHERE expires_at <= now()')
}

function hash(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}

function hashBinding(parts: readonly string[]): Buffer {
  return hash(Buffer.from(JSON.stringify(parts)))
}
