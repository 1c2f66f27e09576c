import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../../../kernel/app-error.ts'
import { accountSuspended } from './read-caller.ts'
import { Batches } from '../../../kernel/batches.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { Queryable } from '../../../storage/database.ts'
import { BoundedMap } from '../../../kernel/bounded-map.ts'
import type { Caller } from './caller.ts'
import { isHashOfToken, isKeyForm, KEY_FORM, nameOfSecret } from '../key-form.ts'
import {
  isAboutOwner,
  KEY_CHANGE_TOPIC,
  parseKeyChange,
  type KeyChange,
  type KeyChangeBus,
} from '../change/key-change.ts'
import { KeyHashes } from './key-hashes.ts'
import { NOTE_USE_AFTER_MS, readKnownKeys, type KnownKey } from './read-known-keys.ts'

const KNOWN_KEYS_MAX = 20_000
const REFUSED_KEYS_MAX = 10_000
const REFUSED_KEY_TTL_MS = 5000
const READS_WAITING_MAX = 1000
const TOO_MANY_READS = 'too many keys are being read at once'
const REFRESH_RETRY_MS = 5000
const READ_AT_ONCE_MAX = 1000
/** The pause between two reads, so that the keys that become due meanwhile share one read. */
const REFRESH_PAUSE_MS = 50

export interface KeyAuthenticatorOptions {
  readonly database: Queryable
  readonly clock: Clock
  readonly messageBus: KeyChangeBus
  /** Called when a key is used, at most once a minute for each key. Must not block. */
  readonly noteUse: (keyId: string, nowMs: number) => void
}

type Refusal = keyof typeof REFUSALS

interface RefusedKey {
  readonly untilMs: number
  readonly reason: Refusal
}

/**
 * Finds the caller of a key, from memory if possible. The memory is valid only while the message bus delivers changes. Without
 * the bus, every request reads the database.
 */
export class KeyAuthenticator {
  readonly #database: Queryable
  readonly #clock: Clock
  readonly #messageBus: KeyChangeBus
  readonly #noteUse: (keyId: string, nowMs: number) => void

  readonly #hashes = new KeyHashes()
  readonly #knownKeys = new BoundedMap<string, KnownKey>({ entriesMax: KNOWN_KEYS_MAX })
  readonly #refused = new BoundedMap<string, RefusedKey>({ entriesMax: REFUSED_KEYS_MAX })
  readonly #sharedReads = new Map<string, Promise<KnownKey | null>>()
  /** Combines concurrent reads of several keys into one query. */
  readonly #reads = new Batches<string, KnownKey | null>(async (keyHashes) => {
    const found = await this.#readAndRemember(keyHashes)
    return keyHashes.map((keyHash) => found.get(keyHash) ?? null)
  }, READ_AT_ONCE_MAX)
  #readsRunning = 0
  /** The hashes of keys that are due for another read. */
  #due: string[] = []
  #isRefreshing = false
  /** Counts received changes, so that a read that began before a change is not cached after it. */
  #generation = 0

  constructor({ database, clock, messageBus, noteUse }: KeyAuthenticatorOptions) {
    this.#database = database
    this.#clock = clock
    this.#messageBus = messageBus
    this.#noteUse = noteUse
    messageBus.subscribe(KEY_CHANGE_TOPIC, (payload) => {
      const change = parseKeyChange(payload)
      if (change === null) this.forgetEverything()
      else this.forget(change)
    })
    messageBus.onConnectionLost(() => this.forgetEverything())
  }

  authenticate(token: string, connection?: object): Caller | Promise<Caller> {
    const keyHash = this.#hashes.find(token, connection)
    if (keyHash === null) throw invalidApiKey('malformed')
    if (!this.#messageBus.isConnected()) return this.#admitOnceRead(keyHash, this.#readKey(keyHash))

    const nowMs = this.#clock.nowMs()
    const known = this.#knownKeys.get(keyHash)
    if (known !== undefined) {
      const monotonicMs = this.#clock.monotonicMs()
      if (monotonicMs >= known.refreshAtMs) this.#refresh(keyHash, known, monotonicMs)
      return this.#admit(keyHash, known, nowMs)
    }
    const refused = this.#refused.get(keyHash)
    if (refused !== undefined && this.#clock.monotonicMs() < refused.untilMs)
      throw refusal(keyHash, refused.reason)
    return this.#admitOnceRead(keyHash, this.#readKeyOnce(keyHash))
  }

  /** Whether the key is in memory. */
  isKnown(token: string): boolean {
    return isKeyForm(token) && this.#knownKeys.get(nameOfSecret(token)) !== undefined
  }

  forget(change: KeyChange): void {
    this.#forgetRunningReads()
    this.#refused.clear()
    if ('keyId' in change) {
      const { keyId } = change
      this.#knownKeys.deleteWhere(({ caller }) => caller.keyId === keyId || caller.parent?.keyId === keyId)
    } else {
      this.#knownKeys.deleteWhere(({ caller }) => isAboutOwner(change, caller))
    }
  }

  forgetEverything(): void {
    this.#forgetRunningReads()
    this.#refused.clear()
    this.#knownKeys.clear()
  }

  // A running read may return data from before the change, so later requests must not share it.
  #forgetRunningReads(): void {
    this.#generation += 1
    this.#sharedReads.clear()
  }

  #admit(keyHash: string, known: KnownKey, nowMs: number): Caller {
    if (known.expiresAtMs !== null && nowMs >= known.expiresAtMs) throw refusal(keyHash, 'expired')
    if (known.suspension !== null) throw accountSuspended(known.suspension.reason)
    // A clock that was set back must not stop the recording of uses.
    if (nowMs >= known.noteUseAtMs || nowMs < known.noteUseAtMs - NOTE_USE_AFTER_MS) {
      known.noteUseAtMs = nowMs + NOTE_USE_AFTER_MS
      this.#noteUse(known.caller.keyId, nowMs)
    }
    return known.caller
  }

  async #admitOnceRead(keyHash: string, read: Promise<KnownKey | null>): Promise<Caller> {
    const known = await read
    if (known === null) throw refusal(keyHash, 'unknown')
    if (known.isRevoked) throw refusal(keyHash, 'revoked')
    return this.#admit(keyHash, known, this.#clock.nowMs())
  }

  #readKeyOnce(keyHash: string): Promise<KnownKey | null> {
    const running = this.#sharedReads.get(keyHash)
    if (running !== undefined) return running
    if (this.#sharedReads.size >= READS_WAITING_MAX) throw cannotCheckKey(TOO_MANY_READS)
    const read = this.#reads.add(keyHash).finally(() => {
      if (this.#sharedReads.get(keyHash) === read) this.#sharedReads.delete(keyHash)
    })
    this.#sharedReads.set(keyHash, read)
    return read
  }

  async #readAndRemember(keyHashes: readonly string[]): Promise<Map<string, KnownKey>> {
    const generation = this.#generation
    const found = await this.#readKeys(keyHashes)
    if (generation !== this.#generation || !this.#messageBus.isConnected()) return found
    for (const keyHash of keyHashes) this.#remember(keyHash, found.get(keyHash))
    return found
  }

  #remember(keyHash: string, known: KnownKey | undefined): void {
    if (known === undefined || known.isRevoked) {
      this.#knownKeys.delete(keyHash)
      const untilMs = this.#clock.monotonicMs() + REFUSED_KEY_TTL_MS
      this.#refused.set(keyHash, { untilMs, reason: known === undefined ? 'unknown' : 'revoked' })
      return
    }
    // A recorded use may not be written to the database yet.
    const notedUntilMs = this.#knownKeys.get(keyHash)?.noteUseAtMs ?? 0
    known.noteUseAtMs = Math.max(known.noteUseAtMs, notedUntilMs)
    this.#knownKeys.set(keyHash, known)
  }

  // Runs in the background: the request does not wait for it, and keys keep working while the database is unavailable.
  #refresh(keyHash: string, known: KnownKey, monotonicMs: number): void {
    known.refreshAtMs = monotonicMs + REFRESH_RETRY_MS
    this.#due.push(keyHash)
    if (!this.#isRefreshing) void this.#refreshDue()
  }

  async #refreshDue(): Promise<void> {
    this.#isRefreshing = true
    while (this.#due.length > 0) {
      const keyHashes = this.#due.splice(0, READ_AT_ONCE_MAX)
      await this.#readAndRemember(keyHashes).catch(() => undefined)
      if (this.#due.length > 0) await delay(REFRESH_PAUSE_MS, undefined, { ref: false })
    }
    this.#isRefreshing = false
  }

  async #readKey(keyHash: string): Promise<KnownKey | null> {
    const known = await this.#readKeys([keyHash])
    return known.get(keyHash) ?? null
  }

  async #readKeys(keyHashes: readonly string[]): Promise<Map<string, KnownKey>> {
    if (this.#readsRunning >= READS_WAITING_MAX) throw cannotCheckKey(TOO_MANY_READS)
    this.#readsRunning += 1
    try {
      return await readKnownKeys(this.#database, keyHashes, this.#clock)
    } catch (cause) {
      throw cannotCheckKey(cause)
    } finally {
      this.#readsRunning -= 1
    }
  }
}

// Details are given only to a client that has the complete key, so that nothing is revealed about other keys.
const REFUSALS = {
  malformed: `The API key is malformed: a key has the form ${KEY_FORM}.`,
  unknown: 'The API key is unknown: this gateway has not issued it.',
  revoked: 'The API key has been revoked.',
  expired: 'The API key has expired.',
} as const

function invalidApiKey(reason: Refusal): AppError {
  return new AppError('invalid_api_key', REFUSALS[reason], { headers: { 'www-authenticate': 'Bearer' } })
}

const TOKEN_REFUSED =
  'The access token has expired or was revoked. Refresh it, or sign in again: `parkway login`.'

// Expired tokens are deleted, so that nothing tells why one is refused.
function refusal(keyHash: string, reason: Refusal): AppError {
  if (!isHashOfToken(keyHash)) return invalidApiKey(reason)
  const headers = { 'www-authenticate': 'Bearer error="invalid_token"' }
  return new AppError('invalid_api_key', TOKEN_REFUSED, { headers })
}

function cannotCheckKey(cause: unknown): AppError {
  return new AppError('service_unavailable', 'The API key cannot be checked right now. Try again shortly.', {
    retryAfterSeconds: 1,
    cause,
  })
}
