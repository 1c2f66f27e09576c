import type { Clock } from '../../kernel/clock.ts'
import { drawFor, hashText, scoreOf } from '../../kernel/rendezvous.ts'
import { UpstreamError } from '../failures/upstream-error.ts'
import { KEY_LIMITS_UNKNOWN, type KeyAllowance, type KeyGrant, type KeyUse } from './key-limits.ts'

/** A key for one request. */
interface TakenKey {
  readonly key: string
  /** Null if the key has no limits. */
  readonly use: KeyUse | null
}

/** Several API keys of one upstream. */
export interface CredentialRing {
  readonly size: number
  /**
   * Returns a key that is not resting and within its limits: the same key for the same affinity, or the next key in turn without an
   * affinity. If all of them are resting, returns the one whose rest ends first, because it may work although it was refused
   * before. If the limits of one cannot be read, returns one without limits. Throws an `UpstreamError` if every key is at its limit.
   */
  take(affinity?: () => number | null, tokens?: number): TakenKey | Promise<TakenKey>
  /** Excludes a key for a while after the upstream refused or throttled it. */
  rest(key: string, restMs: number): void
}

/** What an operator set for the keys, in the order of the keys. */
export interface KeyOptions {
  /** The share of each key. All are equal without it. */
  readonly weights?: readonly number[] | undefined
  /** Null for a key without limits. */
  readonly allowances?: readonly (KeyAllowance | null)[] | undefined
}

interface Credential {
  readonly key: string
  readonly hash: number
  readonly weight: number
  readonly allowance: KeyAllowance | null
  /** What a request without limits gets. */
  readonly unlimited: TakenKey
  /** How far it is behind its share of the turns. */
  credit: number
  restsUntilMs: number
}

interface RingOptions extends KeyOptions {
  readonly provider: string
  readonly clock: Clock
}

export function createCredentialRing(
  keys: readonly string[],
  { provider, clock, weights = [], allowances = [] }: RingOptions,
): CredentialRing {
  const ring: readonly Credential[] = [...new Set(keys)].map((key) => ({
    key,
    hash: hashText(key),
    weight: weights[keys.indexOf(key)] ?? 1,
    allowance: allowances[keys.indexOf(key)] ?? null,
    unlimited: { key, use: null },
    credit: 0,
    restsUntilMs: -Infinity,
  }))
  const isEven = ring.every(({ weight }) => weight === ring[0]?.weight)
  const hasLimits = ring.some(({ allowance }) => allowance !== null)
  let position = 0
  const [only] = ring

  /** The credential whose turn it is among those that are left. */
  const choose = (left: readonly Credential[], wanted: number | null): Credential | undefined => {
    const nowMs = clock.monotonicMs()
    const awake = left.filter(({ restsUntilMs }) => restsUntilMs <= nowMs)
    if (awake.length === 0) return firstToWake(left)
    if (wanted !== null) return mostWanted(awake, wanted)
    return isEven ? nextInTurn(ring, position, awake) : furthestBehind(awake)
  }
  const noteTurn = (chosen: Credential, left: readonly Credential[]): void => {
    position = (ring.indexOf(chosen) + 1) % ring.length
    if (isEven) return
    const nowMs = clock.monotonicMs()
    for (const credential of left) {
      if (credential.restsUntilMs > nowMs) continue
      credential.credit += credential.weight
      chosen.credit -= credential.weight
    }
  }

  const takeFrom = (
    left: readonly Credential[],
    wanted: number | null,
    tokens: number,
    refused: readonly Refused[],
  ): TakenKey | Promise<TakenKey> => {
    const chosen = choose(left, wanted)
    if (chosen === undefined) throw noKeyLeft(provider, refused)
    const conclude = (grant: KeyGrant | null): TakenKey | Promise<TakenKey> => {
      if (grant?.isGranted === false) {
        const others = left.filter((one) => one !== chosen)
        return takeFrom(others, wanted, tokens, [...refused, grant])
      }
      if (wanted === null) noteTurn(chosen, left)
      return grant === null ? chosen.unlimited : { key: chosen.key, use: grant.use }
    }
    const grant = chosen.allowance?.take(tokens) ?? null
    return grant instanceof Promise
      ? grant.then(conclude, (error: unknown) => {
          // Those that have no limits are not to be asked about.
          const others = left.filter(({ allowance }) => allowance === null)
          if (others.length === 0) fail(provider, error)
          return takeFrom(others, wanted, tokens, [])
        })
      : conclude(grant)
  }

  return {
    size: ring.length,
    take(affinity, tokens = 0) {
      if (only === undefined) throw new RangeError('a credential ring without a key cannot be taken from')
      if (ring.length === 1 && !hasLimits) return only.unlimited
      const wanted = ring.length === 1 ? null : (affinity?.() ?? null)
      return takeFrom(ring, wanted, tokens, [])
    },
    rest(key, restMs) {
      const entry = ring.find((candidate) => candidate.key === key)
      if (entry === undefined) return
      entry.restsUntilMs = Math.max(entry.restsUntilMs, clock.monotonicMs() + restMs)
    },
  }
}

type Refused = Extract<KeyGrant, { isGranted: false }>

/** As if the upstream had throttled: another route is tried, and the client learns when to come again. */
function noKeyLeft(provider: string, refused: readonly Refused[]): UpstreamError {
  const [first] = refused.toSorted((one, other) => one.retryAfterMs - other.retryAfterMs)
  return new UpstreamError(`${provider}: every key is at the limit that the operator gave it`, {
    failure: 'status',
    status: 429,
    provider,
    upstreamCode: first?.isOfDay === true ? 'budget_quota_exceeded' : 'limit_of_keys_reached',
    retryAfterSeconds: Math.ceil((first?.retryAfterMs ?? 0) / 1000),
  })
}

/** What the keys may still take is not known, because the database is away. */
function fail(provider: string, cause: unknown): never {
  if (cause instanceof UpstreamError) throw cause
  throw new UpstreamError(`${provider}: the limits of its keys cannot be read`, {
    failure: 'local',
    provider,
    upstreamCode: KEY_LIMITS_UNKNOWN,
    cause,
  })
}

function nextInTurn(
  ring: readonly Credential[],
  position: number,
  awake: readonly Credential[],
): Credential | undefined {
  for (let step = 0; step < ring.length; step += 1) {
    const credential = ring[(position + step) % ring.length]
    if (credential !== undefined && awake.includes(credential)) return credential
  }
  return undefined
}

/** Gives each key its share of the turns, evenly spread: the one that is furthest behind comes next. */
function furthestBehind(awake: readonly Credential[]): Credential | undefined {
  let chosen: Credential | undefined
  let highest = -Infinity
  for (const credential of awake) {
    const due = credential.credit + credential.weight
    if (due <= highest) continue
    highest = due
    chosen = credential
  }
  return chosen
}

/** Rendezvous hashing: while the preferred key cannot be used, all requests with the same affinity use the same replacement. */
function mostWanted(awake: readonly Credential[], affinity: number): Credential | undefined {
  let chosen: Credential | undefined
  let highest = -Infinity
  for (const credential of awake) {
    const score = scoreOf(drawFor(affinity, credential.hash), credential.weight)
    if (score <= highest) continue
    highest = score
    chosen = credential
  }
  return chosen
}

function firstToWake(ring: readonly Credential[]): Credential | undefined {
  return ring.toSorted((one, other) => one.restsUntilMs - other.restsUntilMs)[0]
}
