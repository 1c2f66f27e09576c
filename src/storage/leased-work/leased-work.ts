import type { Logger } from '../../kernel/logger.ts'
import type { Borrower } from '../borrowing/borrower.ts'
import { messageOf } from '../storage-error.ts'
import { repeat } from './repeat.ts'

/** Work that this process has claimed. Its lease keeps other processes from it. */
export interface LeasedItem {
  /** Does the work. Resolves when its result is stored, when it was handed back for another process, or after `lose` or `stop`. */
  perform(): Promise<void>
  /** The lease is gone: the work was cancelled, or another process has it. Nothing may be written any more. */
  lose?(): void | Promise<void>
  /** Other processes declared this one dead (`lost`), or it shuts down and waits no longer (`stopping`). */
  stop?(why: 'lost' | 'stopping'): void
  /** This process shuts down. What has begun may still end, but nothing else begins. */
  windDown?(): void
  /** True if the work was cancelled and only waits for a vendor. It takes no room, and a shutdown waits for it only within the grace period. */
  readonly isLeaving?: boolean
}

export interface LeasedWorkOptions<Item extends LeasedItem> {
  /** What the items are, in the log. */
  readonly name: string
  /** Claims work that no living process has. */
  readonly claim: (countMax: number) => Promise<readonly Item[]>
  /** Maximum concurrent items of this process. */
  readonly concurrency: number
  /** Maximum items of one claim. */
  readonly claimedAtOnceMax?: number
  /** Finds work whose wake-up was lost or whose owner died, and tries again after a failed claim. */
  readonly pollMs: number
  readonly renewal?: Renewal<Item>
  /** Set if the lease of the items is the one of this process, which the borrower renews. */
  readonly borrower?: Pick<Borrower, 'onLost'>
  /** Returns items to the queue that a shutdown interrupted. By default each does so itself, before `perform` resolves. */
  readonly handBack?: (items: readonly Item[]) => Promise<void>
  readonly logger: Logger
}

interface Renewal<Item> {
  readonly everyMs: number
  /** Renews the leases, or checks them. Returns the items that this process has lost; if it fails, none is lost yet. */
  readonly findLost: (items: readonly Item[]) => Promise<readonly Item[]>
}

/**
 * Claims work while there is room, performs it, renews its leases, stops what it has lost, and hands the rest back at a shutdown.
 * Users bring the statements on their table and what is done with one item.
 */
export class LeasedWork<Item extends LeasedItem> {
  readonly #options: LeasedWorkOptions<Item>
  readonly #running = new Map<Item, Promise<void>>()
  #stopPolling = async (): Promise<void> => {}
  #stopRenewing = async (): Promise<void> => {}
  #isWanted = false
  #claiming: Promise<void> | null = null
  #isClosing = false

  constructor(options: LeasedWorkOptions<Item>) {
    this.#options = options
    options.borrower?.onLost(() => {
      for (const item of this.items) item.stop?.('lost')
    })
  }

  /** What this process works on. */
  get items(): readonly Item[] {
    return [...this.#running.keys()]
  }

  /** Starts to look for work regularly. */
  start(): void {
    const { pollMs, renewal } = this.#options
    this.#stopPolling = repeat({
      pauseMs: pollMs,
      work: () => this.wake(),
      onFailure: this.#warn('be claimed'),
    })
    if (renewal !== undefined)
      this.#stopRenewing = repeat({
        pauseMs: renewal.everyMs,
        work: () => this.#renew(renewal),
        onFailure: this.#warn('be looked after'),
      })
    this.wake()
  }

  /** Called when work may be waiting. */
  wake(): void {
    this.#isWanted = true
    if (this.#claiming !== null || this.#isClosing || this.#room() <= 0) return
    this.#claiming = this.#claim().finally(() => {
      this.#claiming = null
      if (this.#isWanted) this.wake()
    })
  }

  /** Claims and performs all work that is waiting now. */
  async drain(): Promise<void> {
    this.wake()
    while (this.#claiming !== null || this.#running.size > 0)
      await (this.#claiming ?? Promise.race(this.#running.values()))
  }

  /** Claims nothing more. Running items may end within the grace period. The others are interrupted and handed back. */
  async close({ graceMs }: { readonly graceMs: number }): Promise<void> {
    this.#isClosing = true
    void this.#stopPolling()
    await this.#claiming
    for (const item of this.items) item.windDown?.()
    await this.#untilEnded(graceMs)
    const left = this.items
    for (const item of left) item.stop?.('stopping')
    await this.#handBack(left)
    void this.#stopRenewing()
  }

  /** How many items may be claimed. */
  #room(): number {
    const { concurrency, claimedAtOnceMax = concurrency } = this.#options
    const taken = this.items.filter(({ isLeaving }) => isLeaving !== true).length
    return Math.min(concurrency - taken, claimedAtOnceMax)
  }

  async #claim(): Promise<void> {
    this.#isWanted = false
    const countMax = this.#room()
    try {
      const items = await this.#options.claim(countMax)
      for (const item of items) this.#begin(item)
      // More may be waiting than were asked for.
      if (items.length === countMax) this.#isWanted = true
    } catch (error) {
      this.#warn('be claimed')(error)
    }
  }

  #begin(item: Item): void {
    const performing = item
      .perform()
      // The lease is not given up: the end may be half written. It expires, or the work is found again.
      .catch((error: unknown) =>
        this.#options.logger.error({ err: error }, `one of the ${this.#options.name} failed`),
      )
      .finally(() => {
        this.#running.delete(item)
        if (this.#isWanted) this.wake()
      })
    this.#running.set(item, performing)
  }

  async #renew({ findLost }: Renewal<Item>): Promise<void> {
    const { items } = this
    if (items.length === 0) return
    const lost = await findLost(items)
    // A shutdown stops all of them anyway. Until then their writes find out that they are lost.
    if (this.#isClosing) return
    for (const item of lost) await item.lose?.()
  }

  async #untilEnded(graceMs: number): Promise<void> {
    const { promise: isOver, resolve: onOver } = Promise.withResolvers<void>()
    const timer = setTimeout(onOver, graceMs)
    await Promise.race([Promise.all(this.#running.values()), isOver])
    clearTimeout(timer)
  }

  async #handBack(left: readonly Item[]): Promise<void> {
    const { handBack } = this.#options
    if (left.length === 0) return
    if (handBack !== undefined) return handBack(left).catch(this.#warn('be handed back'))
    const staying = [...this.#running].filter(([{ isLeaving }]) => isLeaving !== true)
    await Promise.all(staying.map(([, performing]) => performing))
  }

  #warn(what: string): (error: unknown) => void {
    const { logger, name } = this.#options
    return (error) => logger.warn({ reason: messageOf(error) }, `${name} could not ${what}`)
  }
}
