import type { Logger } from '../../../kernel/logger.ts'
import { messageOf } from '../../../storage/storage-error.ts'
import type { PaymentProvider } from '../../../payments/payment-provider.ts'
import type { Queryable } from '../../../storage/database.ts'
import { readBalances } from '../../ledger/ledger.ts'
import { abandonCharges } from './abandon-charges.ts'
import { beginTopUp } from './begin-top-up.ts'
import { performCharges, type PerformContext } from './perform-charge.ts'
import { removeMethods } from './remove-methods.ts'
import { followSetup } from './save-card.ts'
import { claimDueSetups, endSetup, forgetOldSetups } from './setup-record.ts'

export interface KeepContext extends PerformContext {
  readonly logger: Logger
  /** Null if payments are possible. */
  readonly findProblem: (provider: PaymentProvider) => Promise<string | null>
}

interface KeepOptions {
  /** The first one charges. The others only end what was begun. */
  readonly providers: readonly [PaymentProvider, ...PaymentProvider[]]
  readonly intervalMs: number
}

const LOOKED_AT_ONCE = 500
/** Of one round, so that a process that stops does not wait for long. The next round goes on. */
const PAGES_MAX = 20
const SETUPS_AT_ONCE = 20
const SETUPS_KEPT_MS = 90 * 86_400_000

/**
 * Looks at the balances of the accounts with an automatic top-up, charges those below their threshold, and ends what other processes
 * began. Every process does it; each charge is decided under a lock and claimed by one of them.
 */
export function keepToppedUp(context: KeepContext, options: KeepOptions): { close(): Promise<void> } {
  let isClosed = false
  let running: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout
  let after = FIRST_ID
  const schedule = (): void => {
    // Random, so that processes that started together do not look together.
    timer = setTimeout(
      () => {
        running = look().finally(() => {
          if (!isClosed) schedule()
        })
      },
      options.intervalMs * (0.5 + Math.random()),
    ).unref()
  }
  const look = async (): Promise<void> => {
    try {
      after = await lookOnce(context, options, after)
    } catch (error) {
      context.logger.warn({ reason: messageOf(error) }, 'automatic top-ups could not be looked at yet')
    }
  }
  schedule()
  return {
    close: async () => {
      isClosed = true
      clearTimeout(timer)
      await running
    },
  }
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/** One round. Returns after which account the next one goes on. */
async function lookOnce(
  context: KeepContext,
  { providers }: Pick<KeepOptions, 'providers'>,
  after: string,
): Promise<string> {
  const [active] = providers
  let next = after
  const problem = await context.findProblem(active)
  if (problem === null) next = await beginDue(context, active, after)
  for (const provider of providers) {
    if (provider.problem !== null) continue
    // Nobody but the gateway knows of payments at its own page, so they can be refused until they are made.
    const isHosted = provider.sessionOfToken !== undefined
    await performCharges(context, provider, isHosted && (provider !== active || problem !== null))
    await followSetups(context, provider)
    await removeMethods(context, provider)
  }
  await abandonCharges(
    context,
    providers.map(({ name }) => name),
  )
  await forgetOldSetups(context.database, context.clock.nowMs() - SETUPS_KEPT_MS)
  return next
}

async function beginDue(context: KeepContext, provider: PaymentProvider, first: string): Promise<string> {
  let after = first
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const candidates = await listCandidates(context.database, provider.name, after, context.clock.nowMs())
    const balances = await readBalances(
      context.database,
      candidates.map(({ accountId }) => accountId),
    )
    for (const { accountId, thresholdNanoUsd } of candidates) {
      const balance = balances.get(accountId)
      if (balance === undefined || balance.balanceNanoUsd >= thresholdNanoUsd) continue
      await beginTopUp(context, provider.name, accountId)
    }
    const last = candidates.at(-1)
    if (last === undefined || candidates.length < LOOKED_AT_ONCE) return FIRST_ID
    after = last.accountId
  }
  return after
}

async function listCandidates(
  queryable: Queryable,
  provider: string,
  after: string,
  nowMs: number,
): Promise<{ accountId: string; thresholdNanoUsd: bigint }[]> {
  const rows = await queryable.query<{ account_id: string; threshold_nano_usd: bigint }>(
    `SELECT account_id, threshold_nano_usd FROM auto_top_ups JOIN accounts ON accounts.id = account_id
     WHERE is_enabled AND provider = $1 AND account_id > $2 AND (next_try_at IS NULL OR next_try_at <= $3)
       AND accounts.status = 'active'
     ORDER BY account_id LIMIT $4`,
    [provider, after, new Date(nowMs), LOOKED_AT_ONCE],
  )
  return rows.map((row) => ({ accountId: row.account_id, thresholdNanoUsd: row.threshold_nano_usd }))
}

/** A page whose webhook did not arrive. */
async function followSetups(context: KeepContext, provider: PaymentProvider): Promise<void> {
  const { database, clock, logger } = context
  const nowMs = clock.nowMs()
  const due = await claimDueSetups(database, { provider: provider.name, nowMs, limit: SETUPS_AT_ONCE })
  for (const setup of due) {
    try {
      if (setup.sessionId !== null && provider.sessionOfToken === undefined)
        await followSetup(context, provider, setup.sessionId)
      else if (setup.expiresAtMs <= nowMs) await endSetup(database, setup.id, 'expired')
    } catch (error) {
      logger.warn({ err: error, setupId: setup.id }, 'what became of a page to save a card could not be read')
    }
  }
}
