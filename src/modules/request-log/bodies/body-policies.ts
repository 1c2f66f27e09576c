import type { Logger } from '../../../kernel/logger.ts'
import type { Database } from '../../../storage/database.ts'
import type { MessageBus } from '../../../storage/bus/message-bus.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { recordChange, type ChangeActor } from '../../audit/audit.ts'
import { refuseZeroRetention } from './data-retention.ts'

/** The whole account, or one key of it. */
export interface PolicyScope {
  readonly accountId: string
  readonly keyId: string | null
}

/** Whether bodies are stored, and for how long. */
export interface BodyPolicy {
  readonly isOn: boolean
  readonly retentionDays: number
}

/** The policies of an account: its own, which holds for all keys, and those of single keys. */
export interface AccountPolicies {
  readonly account: BodyPolicy | null
  readonly keys: ReadonlyMap<string, BodyPolicy>
}

interface BodyPoliciesOptions {
  readonly database: Database
  readonly messageBus: Pick<MessageBus, 'subscribe' | 'publishAndConfirm'>
  readonly logger: Logger
}

interface PolicyRow {
  readonly account_id: string
  readonly scope_id: string
  readonly is_on: boolean
  readonly retention_days: number
}

interface KnownPolicies extends AccountPolicies {
  account: BodyPolicy | null
  readonly keys: Map<string, BodyPolicy>
}

const TOPIC = 'body_policies.changed'
const CONFIRM_TIMEOUT_MS = 2_000
/** In case a message was missed. */
const POLL_MS = 10_000
/** Further ones are not known to this process, and so are off. */
const POLICIES_MAX = 100_000
const NO_POLICIES: AccountPolicies = { account: null, keys: new Map() }

/** All policies in memory, because every request asks for its own. */
export class BodyPolicies {
  readonly #options: BodyPoliciesOptions
  readonly #timer: NodeJS.Timeout
  readonly #unsubscribe: () => void
  #accounts = new Map<string, KnownPolicies>()

  private constructor(options: BodyPoliciesOptions) {
    this.#options = options
    this.#unsubscribe = options.messageBus.subscribe(TOPIC, () => this.#read())
    this.#timer = setInterval(() => {
      this.#read().catch((error: unknown) =>
        options.logger.warn({ err: error }, 'policies of stored bodies could not be read'),
      )
    }, POLL_MS).unref()
  }

  static async open(options: BodyPoliciesOptions): Promise<BodyPolicies> {
    const policies = new BodyPolicies(options)
    await policies.#read()
    return policies
  }

  /** Returns the policy that is on for a key, or null. */
  find(accountId: string, keyId: string): BodyPolicy | null {
    // Nearly always nothing is stored.
    if (this.#accounts.size === 0) return null
    const known = this.#accounts.get(accountId)
    const policy = known?.keys.get(keyId) ?? known?.account ?? null
    return policy?.isOn === true ? policy : null
  }

  list(accountId: string): AccountPolicies {
    return this.#accounts.get(accountId) ?? NO_POLICIES
  }

  /** Null removes the policy of a key. Bodies that are no longer wanted are deleted. Returns when every process knows. */
  async set(actor: ChangeActor, { accountId, keyId }: PolicyScope, policy: BodyPolicy | null): Promise<void> {
    const { database } = this.#options
    const scopeId = keyId ?? accountId
    await database.transaction(async (transaction) => {
      if (policy?.isOn === true) await refuseZeroRetention(transaction, accountId, keyId)
      if (policy === null) await transaction.query(REMOVE, [accountId, scopeId])
      else await transaction.query(SET, [accountId, scopeId, policy.isOn, policy.retentionDays])
      await recordChange(transaction, {
        actor,
        accountId,
        type: 'body_storage.updated',
        projectId: null,
        resourceId: keyId ?? wireId('organization', accountId),
        details: {
          changes_requested: { enabled: policy?.isOn ?? null, retention_days: policy?.retentionDays ?? null },
        },
      })
    })
    await this.announce(accountId)
    await database.query(DELETE_UNWANTED, [accountId])
  }

  /** Returns when every process has read the policies again. */
  async announce(accountId: string): Promise<void> {
    await this.#read()
    await this.#options.messageBus.publishAndConfirm(TOPIC, accountId, { timeoutMs: CONFIRM_TIMEOUT_MS })
  }

  close(): void {
    this.#unsubscribe()
    clearInterval(this.#timer)
  }

  async #read(): Promise<void> {
    const rows = await this.#options.database.query<PolicyRow>(
      'SELECT account_id, scope_id, is_on, retention_days FROM body_policies LIMIT $1',
      [POLICIES_MAX],
    )
    const accounts = new Map<string, KnownPolicies>()
    for (const {
      account_id: accountId,
      scope_id: scopeId,
      is_on: isOn,
      retention_days: retentionDays,
    } of rows) {
      const known = accounts.get(accountId) ?? { account: null, keys: new Map<string, BodyPolicy>() }
      if (scopeId === accountId) known.account = { isOn, retentionDays }
      else known.keys.set(scopeId, { isOn, retentionDays })
      accounts.set(accountId, known)
    }
    this.#accounts = accounts
  }
}

const SET = `
  INSERT INTO body_policies (account_id, scope_id, is_on, retention_days) VALUES ($1, $2, $3, $4)
  ON CONFLICT (account_id, scope_id) DO UPDATE
    SET is_on = excluded.is_on, retention_days = excluded.retention_days, updated_at = now()`

const REMOVE = 'DELETE FROM body_policies WHERE account_id = $1 AND scope_id = $2'

const DELETE_UNWANTED = `
  DELETE FROM request_bodies body WHERE account_id = $1 AND NOT coalesce(
    (SELECT is_on FROM body_policies policy WHERE policy.account_id = $1 AND scope_id = body.key_id),
    (SELECT is_on FROM body_policies policy WHERE policy.account_id = $1 AND scope_id = $1),
    false)`
