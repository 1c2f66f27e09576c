import type { Logger } from '../../kernel/logger.ts'
import type { MessageBus } from '../../storage/bus/message-bus.ts'
import type { Database } from '../../storage/database.ts'
import { messageOf } from '../../storage/storage-error.ts'
import { readOffer, readOfferVersion, type StoredOffer } from './read-offer.ts'

export interface FollowedOffer {
  /** The state that this process uses. */
  readonly current: StoredOffer
  /** Reads the state again unless this process has this version or a later one. */
  catchUp(version: bigint): Promise<void>
  /** Tells all processes of a version, and returns when they use it, or after a while: they find it by themselves then. */
  announce(version: bigint): Promise<void>
  close(): void
}

interface FollowOptions {
  readonly database: Database
  readonly messageBus: Pick<MessageBus, 'subscribe' | 'publishAndConfirm'>
  readonly logger: Logger
  /** Reads what a state needs before it can be used. */
  readonly prepare: (offer: StoredOffer) => Promise<void>
  /** Called with each state before it is confirmed. */
  readonly use: (offer: StoredOffer) => void
  /** Called regularly. */
  readonly onTick: () => Promise<void>
}

const TOPIC = 'offer.changed'
const CONFIRM_MS = 2_000
/** A change whose message was lost is found within two of these. */
const POLL_MS = 2_000

/**
 * Keeps the latest state of the offer. It is replaced as a whole. While the database is away, the last known state stays in use.
 */
export async function followOffer(options: FollowOptions): Promise<FollowedOffer> {
  const { database, messageBus, logger, prepare, use } = options
  let current = await readOffer(database)
  await prepare(current)
  use(current)
  let reading: Promise<void> | null = null
  let isPolling = false
  let isAway = false

  const readOnce = async (): Promise<void> => {
    const found = await readOffer(database)
    if (found.version <= current.version) return
    await prepare(found)
    current = found
    use(found)
  }
  const catchUp = async (version: bigint): Promise<void> => {
    // A reading that began before the change may not see it, so a second one follows.
    for (let round = 0; round < 2 && current.version < version; round += 1)
      await (reading ??= readOnce().finally(() => (reading = null)))
  }
  const poll = async (): Promise<void> => {
    if (isPolling) return
    isPolling = true
    try {
      await options.onTick()
      await catchUp(await readOfferVersion(database))
      isAway = false
    } catch (error) {
      if (!isAway) logger.warn({ reason: messageOf(error) }, 'changes of providers could not be read')
      isAway = true
    } finally {
      isPolling = false
    }
  }
  const unsubscribe = messageBus.subscribe(TOPIC, (payload) =>
    /^\d{1,18}$/.test(payload) ? catchUp(BigInt(payload)) : undefined,
  )
  const timer = setInterval(() => void poll(), POLL_MS).unref()

  return {
    get current() {
      return current
    },
    catchUp,
    announce: async (version) => {
      await catchUp(version)
      await messageBus.publishAndConfirm(TOPIC, String(version), { timeoutMs: CONFIRM_MS })
    },
    close: () => {
      unsubscribe()
      clearInterval(timer)
    },
  }
}
