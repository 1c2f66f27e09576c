import { createHash, randomBytes } from 'node:crypto'
import type { Sealer } from '../../kernel/seal-text.ts'
import { isRecord } from '../../kernel/is-record.ts'

/** The session of a person who signs in at a provider meanwhile. */
export interface SessionOfPerson {
  readonly sessionId: string
  readonly accountId: string
  readonly userId: string
}

/** A sign-in that has begun. Only the browser that began it has this, sealed, in a cookie. */
export interface SignInState {
  readonly providerId: string
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
  readonly redirectUri: string
  readonly returnPath: string
  /** The account that the person chose. */
  readonly accountId: string | null
  /** The session that the person confirms by signing in again. */
  readonly confirms: SessionOfPerson | null
  /** The session whose person links an identity. Absent in states of the release before. */
  readonly links?: SessionOfPerson | null
  readonly begunAtMs: number
}

export const SIGN_IN_LIFE_MS = 10 * 60_000
/** One browser can begin this many at once. They replace one another, so that cookies do not pile up. */
const SIGN_IN_SLOTS = 3
const PLACE = 'sign-in with an identity provider'
const SEALED_LENGTH_MAX = 4000

export function createState(): string {
  return randomBytes(32).toString('base64url')
}

/** Returns the number of the cookie that a state is in. */
export function slotOf(state: string): number {
  return (createHash('sha256').update(state).digest()[0] ?? 0) % SIGN_IN_SLOTS
}

export function sealState(sealer: Sealer, state: SignInState): string {
  return sealer.seal(JSON.stringify(state), PLACE).toString('base64url')
}

/** Returns null for what this gateway did not seal, and for what is too old. */
export function openState(sealer: Sealer, text: string, nowMs: number): SignInState | null {
  if (text.length > SEALED_LENGTH_MAX) return null
  const opened = sealer.open(Buffer.from(text, 'base64url'), PLACE)
  if (opened === null) return null
  const state: unknown = JSON.parse(opened)
  if (!isSignInState(state)) return null
  return nowMs - state.begunAtMs < SIGN_IN_LIFE_MS ? state : null
}

/** What this gateway sealed has the form that it gave it, unless another release did it. */
function isSignInState(value: unknown): value is SignInState {
  if (!isRecord(value)) return false
  const texts = ['providerId', 'state', 'nonce', 'codeVerifier', 'redirectUri', 'returnPath']
  return texts.every((name) => typeof value[name] === 'string') && typeof value['begunAtMs'] === 'number'
}
