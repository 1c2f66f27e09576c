import type { Logger } from '../../kernel/logger.ts'
import type { Database } from '../../storage/database.ts'
import type { MessageBus } from '../../storage/bus/message-bus.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange, type ChangeActor } from '../audit/audit.ts'

interface TierOverridesOptions {
  readonly database: Database
  readonly messageBus: Pick<MessageBus, 'subscribe' | 'publishAndConfirm'>
  readonly logger: Logger
}

const TOPIC = 'account_tiers.changed'
const CONFIRM_TIMEOUT_MS = 2_000
/** In case a message was missed. */
const POLL_MS = 10_000
/** Further ones are not known to this process: their accounts have the tier of their balance. */
const OVERRIDES_MAX = 100_000

/** The tiers that the operator has set for single accounts, all in memory, because every request asks for its own. */
export class TierOverrides {
  readonly #options: TierOverridesOptions
  readonly #timer: NodeJS.Timeout
  readonly #unsubscribe: () => void
  #tiers: ReadonlyMap<string, string> = new Map()

  private constructor(options: TierOverridesOptions) {
    this.#options = options
    this.#unsubscribe = options.messageBus.subscribe(TOPIC, () => this.#read())
    this.#timer = setInterval(() => {
      this.#read().catch((error: unknown) =>
        options.logger.warn({ err: error }, 'the tiers that are set for accounts could not be read'),
      )
    }, POLL_MS).unref()
  }

  static async open(options: TierOverridesOptions): Promise<TierOverrides> {
    const overrides = new TierOverrides(options)
    await overrides.#read()
    return overrides
  }

  /** The name of the tier that is set for an account. */
  find(accountId: string): string | undefined {
    return this.#tiers.get(accountId)
  }

  /** Null removes what is set. Returns when every process knows. */
  async set(operator: ChangeActor, accountId: string, tier: string | null): Promise<void> {
    const { database, messageBus } = this.#options
    await database.transaction(async (transaction) => {
      const changed =
        tier === null
          ? await transaction.query(REMOVE, [accountId])
          : await transaction.query(SET, [accountId, tier])
      if (changed.length === 0) return
      await recordChange(transaction, {
        actor: operator,
        accountId,
        type: 'limits.updated',
        projectId: null,
        resourceId: wireId('organization', accountId),
        details: { changes_requested: { tier } },
      })
    })
    await this.#read()
    await messageBus.publishAndConfirm(TOPIC, accountId, { timeoutMs: CONFIRM_TIMEOUT_MS })
  }

  close(): void {
    this.#unsubscribe()
    clearInterval(this.#timer)
  }

  async #read(): Promise<void> {
    const rows = await this.#options.database.query<{ account_id: string; tier: string }>(
      'SELECT account_id, tier FROM account_tiers LIMIT $1',
      [OVERRIDES_MAX],
    )
    this.#tiers = new Map(rows.map(({ account_id: accountId, tier }) => [accountId, tier]))
  }
}

const SET = `
  INSERT INTO account_tiers (account_id, tier) VALUES ($1, $2)
  ON CONFLICT (account_id) DO UPDATE SET tier = excluded.tier, updated_at = now()
    WHERE account_tiers.tier <> excluded.tier RETURNING account_id`

const REMOVE = 'DELETE FROM account_tiers WHERE account_id = $1 RETURNING account_id'
