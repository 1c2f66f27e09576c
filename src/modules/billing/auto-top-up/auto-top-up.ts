import { AppError, notFound } from '../../../kernel/app-error.ts'
import { BoundedMap } from '../../../kernel/bounded-map.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { PaymentProvider } from '../../../payments/payment-provider.ts'
import { TEST_CARDS } from '../../../payments/test-checkout/test-saved-methods.ts'
import type { ChangeActor } from '../../audit/audit.ts'
import { readAutoTopUp, type AutoTopUpRecord } from './auto-top-up-record.ts'
import { changeRules, type AutoTopUpChanges } from './change-rules.ts'
import { readHostedSetup, saveHostedCard, type HostedSetup } from './hosted-setup.ts'
import { keepToppedUp, type KeepContext } from './keep-topped-up.ts'
import { nextMonthMs, readRecentTopUps } from './month-spending.ts'
import { followSetup, removeCard, startSetup, type OpenedSetup, type SetupRequest } from './save-card.ts'
import { findSetup, listOpenSetups } from './setup-record.ts'

export type { HostedSetup } from './hosted-setup.ts'

/** The automatic top-up of an account, with what it charged in this month of UTC. */
export interface AutoTopUp extends AutoTopUpRecord {
  readonly monthNanoUsd: NanoUsd
  readonly monthEndsAtMs: number
  readonly isBeingCharged: boolean
}

/** Buys credit by a saved card when an account has little. */
export interface AutoTopUps {
  /** Asks the provider first about pages where a card may just have been saved. */
  read(accountId: string): Promise<AutoTopUp>
  change(actor: ChangeActor, changes: AutoTopUpChanges): Promise<AutoTopUp>
  startSetup(request: SetupRequest): Promise<OpenedSetup>
  /** Returns false if no card was saved. */
  removeCard(actor: ChangeActor): Promise<boolean>
  /** Returns whether the page is one of this gateway. */
  follow(provider: PaymentProvider, sessionId: string): Promise<boolean>
  /** Where a provider sends people back to. Null if the page is not for saving a card. */
  completeReturn(provider: PaymentProvider, sessionId: string): Promise<HostedSetup['state'] | null>
  readHosted(token: string): Promise<HostedSetup>
  /** The test card is named by its last four digits. */
  saveHosted(token: string, last4: keyof typeof TEST_CARDS): Promise<HostedSetup>
  close(): Promise<void>
}

interface AutoTopUpOptions extends KeepContext {
  readonly providers: readonly [PaymentProvider, ...PaymentProvider[]]
  /** False for a restored copy, which must not charge what the original charges, and where nothing is billed. */
  readonly isCharging: boolean
  readonly intervalMs: number
}

const FOLLOWED_MAX = 3
/** So that many waiting clients cause one question to the provider. */
const ASK_PAUSE_MS = 2_000
const PAGES_KNOWN_MAX = 1_000

export function createAutoTopUps(options: AutoTopUpOptions): AutoTopUps {
  const { database, clock, logger, providers } = options
  const [active] = providers
  const keeper = options.isCharging ? keepToppedUp(options, options) : null
  const hosted = providers.find(({ sessionOfToken }) => sessionOfToken !== undefined)

  const requireHosted = (): PaymentProvider => {
    if (hosted === undefined) throw notFound('checkout')
    return hosted
  }

  const requireWorking = async (provider: PaymentProvider): Promise<void> => {
    const problem = provider === active ? await options.findProblem(provider) : REPLACED
    if (problem !== null) throw new AppError('provider_not_configured', problem)
  }

  const present = async (accountId: string, record: AutoTopUpRecord): Promise<AutoTopUp> => {
    const nowMs = clock.nowMs()
    const { monthNanoUsd, isBeingCharged } = await readRecentTopUps(database, accountId, nowMs)
    // A card at a provider that takes no payments any more is not charged.
    const isActive = record.card?.provider === active.name
    const usable = isActive ? record : { ...record, card: null, isEnabled: false }
    return { ...usable, monthNanoUsd, isBeingCharged, monthEndsAtMs: nextMonthMs(nowMs) }
  }

  const askedAtMs = new BoundedMap<string, number>({ entriesMax: PAGES_KNOWN_MAX })
  const isAskedAgain = (setupId: string): boolean => {
    const nowMs = clock.nowMs()
    if (nowMs - (askedAtMs.get(setupId) ?? 0) < ASK_PAUSE_MS) return false
    askedAtMs.set(setupId, nowMs)
    return true
  }

  /** If the provider cannot be asked now, the page is asked for later. */
  const followOpen = async (accountId: string): Promise<void> => {
    if (active.sessionOfToken !== undefined) return
    for (const { id, sessionId, provider } of await listOpenSetups(database, accountId, FOLLOWED_MAX)) {
      if (sessionId === null || provider !== active.name || !isAskedAgain(id)) continue
      await followSetup(options, active, sessionId).catch((error: unknown) => {
        logger.warn({ err: error, accountId }, 'what became of a page to save a card could not be read')
      })
    }
  }

  return {
    read: async (accountId) => {
      await followOpen(accountId)
      return present(accountId, await readAutoTopUp(database, accountId))
    },
    change: async (actor, changes) => {
      if (changes.isEnabled === true) await requireWorking(active)
      return present(actor.accountId, await changeRules(database, { actor, changes, provider: active.name }))
    },
    startSetup: async (request) => {
      await requireWorking(active)
      return startSetup(options, active, request)
    },
    removeCard: (actor) => removeCard(options, actor),
    follow: async (provider, sessionId) => (await followSetup(options, provider, sessionId)) !== null,
    completeReturn: async (provider, sessionId) => {
      const setup = await findSetup(database, provider.name, { sessionId })
      if (setup === null) return null
      const followed = setup.status === 'open' ? await followSetup(options, provider, sessionId) : setup
      return followed?.status ?? setup.status
    },
    readHosted: (token) => readHostedSetup(options, requireHosted(), token),
    saveHosted: async (token, last4) => {
      await requireWorking(requireHosted())
      return saveHostedCard(options, requireHosted(), token, TEST_CARDS[last4])
    },
    close: async () => keeper?.close(),
  }
}

const REPLACED = 'Another payment provider takes payments now. Save a card there.'
