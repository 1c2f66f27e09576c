import { AppError } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Borrower } from '../../storage/borrowing/borrower.ts'
import { createBorrowedRates } from '../../storage/borrowing/borrowed-rates.ts'
import { createBorrowedSlots } from '../../storage/borrowing/borrowed-slots.ts'
import { createSlotQueues, type PoolState, type QueuedSlot } from '../../storage/borrowing/slot-queues.ts'
import type { Database } from '../../storage/database.ts'
import type { MessageBus } from '../../storage/bus/message-bus.ts'
import { readAllStoredBytes, type QuotaOf, type StoredKind } from '../../storage/stored-bytes/stored-bytes.ts'
import type { ChangeActor } from '../audit/audit.ts'
import type { Caller } from '../keys/keys.ts'
import { admit } from './admit.ts'
import type { Admission, LimitLayer, Refusal } from './admission.ts'
import { createDayRequests } from './day-requests.ts'
import { createProviderKeys, type ProviderKeys } from './key-allowances.ts'
import { createProjectRates, type AdmitModel } from './project-rates.ts'
import { createGates, type Balances } from './gates.ts'
import { RefusedBodies, type RefusedBody } from './refused-bodies.ts'
import type { LimitTable, TierLimits } from './limit-table.ts'
import type { TierOverrides } from './tier-overrides.ts'

export { reclaimSlots } from '../../storage/borrowing/borrowed-slots.ts'
export type { Admission, ModelAdmission, RateState, RateStates, Refusal, UsedUp } from './admission.ts'
export { pushRates } from './rate-headers.ts'
export { explainRefusal } from './explain-refusal.ts'
export type { Balances } from './gates.ts'
export { TierOverrides } from './tier-overrides.ts'
export { parseLimitTable } from './parse-limit-table.ts'
export { createUnauthenticatedThrottle, type UnauthenticatedThrottle } from './unauthenticated-throttle.ts'

/** The request for an admission. */
interface AdmissionRequest {
  readonly caller: Caller
  /** The category of the model. */
  readonly category: string
  /** The estimated maximum. Corrected when the request ends. */
  readonly tokens: number
}

export interface CallerLimits extends TierLimits {
  readonly tier: string
}

interface AccountLimits extends CallerLimits {
  /** The tier that the operator has set, if it is in the table; null if the balance decides. */
  readonly setTier: string | null
}

interface SlotRequest {
  readonly pool: string
  readonly slots: number
  /** The owner of the request, between which free slots rotate: an account, or a key if all requests are of one account. */
  readonly accountId: string
  readonly cancellation: Cancellation
  /** Set for work that takes only slots that nobody else wants: it is called when somebody waits, and ends the work. */
  readonly giveWay?: (() => void) | undefined
}

/** Limits that hold over all processes together. */
export interface Limits {
  /** Returns synchronously if enough is borrowed. The caller must finish an admission. */
  admit(request: AdmissionRequest): Admission | Refusal | Promise<Admission | Refusal>
  /** Takes what a request needs of the limits that its project has for the model. Null if there are none. */
  admitModel: AdmitModel
  /** Counts a refused body against the rates of the key, like a request that runs. Returns null while the rates suffice. */
  countRefused(body: RefusedBody): Promise<Refusal | null>
  /** Returns how long a key must wait after its refused bodies used up its rates. 0 for all other keys. */
  secondsToRest(caller: Caller): number
  /** Returns a slot of a local model, or waits in its queue. Throws `queue_full`. */
  acquireSlot(request: SlotRequest): QueuedSlot | Promise<QueuedSlot>
  /** Returns the limits that apply to the key. */
  describe(caller: Caller): Promise<CallerLimits>
  describeAccount(accountId: string): Promise<AccountLimits>
  /** The names of all tiers, in ascending order of balance. */
  readonly tierNames: readonly string[]
  /** Sets the tier of an account. Null leaves it to the balance. Returns when every process knows. */
  setTier(operator: ChangeActor, accountId: string, tier: string | null): Promise<void>
  /** Returns the account's storage quota for a kind of data. */
  readonly quotaOf: QuotaOf
  readStoredBytes(accountId: string): Promise<Readonly<Record<StoredKind, number>>>
  /** Keys of providers with limits. */
  readonly providerKeys: ProviderKeys
  /** The queues of these pools over all processes. */
  readQueues(pools: readonly string[]): Promise<PoolState[]>
  /** Call it after all requests have ended. */
  close(): Promise<void>
}

interface LimitsObserver {
  refused(layer: LimitLayer): void
  /** Reports how many limits this process has borrowed from. */
  borrowed(count: number): void
  /** Called when the database becomes unavailable, or available again. */
  databaseAway(isAway: boolean): void
}

interface LimitsOptions {
  readonly database: Database
  readonly messageBus: MessageBus
  readonly borrower: Borrower
  readonly logger: Logger
  readonly table: LimitTable
  readonly overrides: TierOverrides
  readonly balances: Balances
  readonly observer: LimitsObserver
}

const RETRY_SECONDS_MAX = 60
const COUNT_EVERY_MS = 2_000

export function createLimits(options: LimitsOptions): Limits {
  const { table, overrides, balances, observer } = options
  const tierSetFor = (accountId: string) => overrides.find(accountId)
  const away = new Set<string>()
  const noteOutage = (part: string) => (isAway: boolean) => {
    if (isAway) away.add(part)
    else away.delete(part)
    observer.databaseAway(away.size > 0)
  }
  const rates = createBorrowedRates({ ...options, onOutage: noteOutage('rates') })
  const slots = createBorrowedSlots({ ...options, onOutage: noteOutage('slots') })
  const queues = createSlotQueues(options)
  const gates = createGates({ table, tierSetFor, rates, slots, balances })
  const refusedBodies = new RefusedBodies(gates)
  const days = createDayRequests(options)
  const admitModel = createProjectRates(rates, days)
  const providerKeys = createProviderKeys({ ...options, rates })
  const { waitersMax, waitMsMax } = table.localModels
  const ticker = setInterval(
    () => observer.borrowed(rates.countLoans() + slots.countLoans()),
    COUNT_EVERY_MS,
  ).unref()
  const note = (outcome: Admission | Refusal): Admission | Refusal => {
    if (!outcome.isAdmitted) observer.refused(outcome.layer)
    return outcome
  }

  return {
    admit(request) {
      const outcome = admit(gates, request)
      return outcome instanceof Promise ? outcome.then(note) : note(outcome)
    },
    admitModel(caller, model, demand) {
      const outcome = admitModel(caller, model, demand)
      if (outcome === null) return null
      return outcome.then((decided) => {
        if (!decided.isAdmitted) observer.refused(decided.layer)
        return decided
      })
    },
    async countRefused(body) {
      const refusal = await refusedBodies.count(body)
      if (refusal !== null) observer.refused(refusal.layer)
      return refusal
    },
    secondsToRest(caller) {
      const seconds = refusedBodies.secondsToRest(caller)
      if (seconds > 0) observer.refused('key_requests')
      return seconds
    },
    acquireSlot({ pool, slots: slotsMax, accountId, cancellation, giveWay }) {
      const queue = queues.queue(pool, { slots: slotsMax, waitersMax, waitMsMax })
      const outcome =
        giveWay === undefined
          ? queue.acquire(accountId, cancellation)
          : queue.acquireInBackground(giveWay, cancellation)
      if (!(outcome instanceof Promise)) return outcome
      return outcome.then((entered) => {
        if (entered.isGranted) return entered
        observer.refused('model_queue')
        throw queueFull(pool, entered)
      })
    },
    async describe(caller) {
      const { tier } = (await gates.open(caller, 'llm', performance.now())).account
      const own = caller.requestsPerMinute ?? Infinity
      const perMinute = Math.min(own, tier.requestsPerMinute ?? Infinity)
      return {
        ...tier,
        tier: tier.name,
        requestsPerMinute: perMinute === Infinity ? null : perMinute,
      }
    },
    async describeAccount(accountId) {
      const tier = await gates.tierOf(accountId)
      const isSet = overrides.find(accountId) === tier.name
      return { ...tier, tier: tier.name, setTier: isSet ? tier.name : null }
    },
    tierNames: table.tiers.map(({ name }) => name),
    setTier: (operator, accountId, tier) => overrides.set(operator, accountId, tier),
    quotaOf: (accountId, kind) => {
      const tier = gates.tierOf(accountId)
      return tier instanceof Promise
        ? tier.then(({ storedBytesMax }) => storedBytesMax[kind])
        : tier.storedBytesMax[kind]
    },
    readStoredBytes: (accountId) => readAllStoredBytes(options.database, accountId),
    providerKeys,
    readQueues: (pools) => queues.readStates(pools),
    async close() {
      clearInterval(ticker)
      overrides.close()
      await Promise.all([rates.close(), slots.close(), queues.close(), days.close(), providerKeys.close()])
    },
  }
}

function queueFull(
  pool: string,
  { reason, retryAfterMs }: { reason: string; retryAfterMs: number },
): AppError {
  const retryAfterSeconds = Math.min(RETRY_SECONDS_MAX, Math.ceil(retryAfterMs / 1000))
  const what = reason === 'full' ? 'is full' : 'did not move in time'
  const message = `The queue of '${pool}' ${what}. Try again in ${retryAfterSeconds} s.`
  return new AppError('queue_full', message, { retryAfterSeconds })
}
