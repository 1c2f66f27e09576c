import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../kernel/logger.ts'
import { nanoUsdFromUsd, type NanoUsd } from '../../kernel/money.ts'
import { createBorrowedRates } from '../../storage/borrowing/borrowed-rates.ts'
import { createBorrowedSlots } from '../../storage/borrowing/borrowed-slots.ts'
import type { Caller } from '../keys/keys.ts'
import { createGates } from './gates.ts'
import { DEFAULT_LIMITS } from './limit-table.ts'

const CALLER: Caller = {
  accountId: 'an account',
  keyId: 'a key',
  environment: 'test',
  scopes: new Set(['inference']),
  projectId: null,
  groupIds: [],
  permissions: new Set(),
  allowedModels: null,
  requestsPerMinute: null,
  limitNanoUsd: null,
}
const CHECK_EVERY_MS = 500

/** Creates gates for an account with this balance and this cached balance. The tests take nothing, so no query is sent. */
function startGates({ usd, knownUsd }: { usd: number; knownUsd?: number }) {
  const balance: { read: NanoUsd; known: NanoUsd | undefined } = {
    read: nanoUsdFromUsd(usd),
    known: knownUsd === undefined ? undefined : nanoUsdFromUsd(knownUsd),
  }
  const counted = { reads: 0 }
  const parts = {
    database: { query: () => Promise.reject(new Error('nothing is asked')) },
    messageBus: {
      subscribe: () => () => {},
      publishAndConfirm: async () => ({ confirmed: true }),
      isConnected: () => true,
    },
    borrower: { id: 'a process', isTrusted: () => true, declareLost: async () => {}, onLost: () => {} },
    logger: silentLogger,
  }
  const set: { tier: string | undefined } = { tier: undefined }
  const gates = createGates({
    table: DEFAULT_LIMITS,
    tierSetFor: () => set.tier,
    rates: createBorrowedRates(parts),
    slots: createBorrowedSlots(parts),
    balances: {
      knownOf: () => balance.known,
      read: async () => {
        counted.reads += 1
        return balance.read
      },
    },
  })
  let nowMs = 0
  const open = (category = 'llm') => gates.open(CALLER, category, nowMs)
  return {
    balance,
    counted,
    set,
    open,
    tierOf: async (category?: string) => (await open(category)).account.tier.name,
    wait: () => void (nowMs += CHECK_EVERY_MS),
  }
}

describe('the limits of an account', () => {
  it('follow its balance while its credit is being borrowed by this process', async () => {
    const { tierOf, balance } = startGates({ usd: 100_000, knownUsd: 0 })
    expect(await tierOf('llm')).toBe('tier_4')
    expect(await tierOf('video')).toBe('tier_4')
    balance.known = balance.read
    expect(await tierOf('image')).toBe('tier_4')
  })

  it('do not fall while its credit is being given back', async () => {
    const { tierOf, balance, wait } = startGates({ usd: 100_000, knownUsd: 100_000 })
    expect(await tierOf()).toBe('tier_4')
    for (const known of [0n, 3n, undefined]) {
      balance.known = known
      wait()
      expect(await tierOf()).toBe('tier_4')
      await new Promise((resolve) => setImmediate(resolve))
      expect(await tierOf()).toBe('tier_4')
    }
  })

  it('fall when it has spent its credit', async () => {
    const { tierOf, balance, wait } = startGates({ usd: 100_000, knownUsd: 100_000 })
    expect(await tierOf()).toBe('tier_4')
    Object.assign(balance, { read: 0n, known: 0n })
    wait()
    await expect.poll(() => tierOf()).toBe('free')
  })

  it('rise at once when a higher balance is known', async () => {
    const { tierOf, balance, wait } = startGates({ usd: 0 })
    expect(await tierOf()).toBe('free')
    balance.known = nanoUsdFromUsd(30)
    wait()
    expect(await tierOf()).toBe('tier_2')
  })

  it('are those of the tier that the operator has set, without a query, until it is removed', async () => {
    const { open, tierOf, set, counted, wait } = startGates({ usd: 30, knownUsd: 30 })
    for (const tier of ['tier_4', 'free']) {
      set.tier = tier
      wait()
      expect(open()).not.toBeInstanceOf(Promise)
      expect(await tierOf()).toBe(tier)
    }
    expect(counted.reads).toBe(0)
    set.tier = undefined
    wait()
    expect(await tierOf()).toBe('tier_2')
  })

  it('are those of the balance if the set tier is not in the table', async () => {
    const { tierOf, set } = startGates({ usd: 30 })
    set.tier = 'removed'
    expect(await tierOf()).toBe('tier_2')
  })

  it('need no query while the known balance reaches them, also in debt', async () => {
    for (const usd of [0, 100_000, -1]) {
      const { open, counted, wait } = startGates({ usd, knownUsd: usd })
      await open()
      wait()
      expect(open()).not.toBeInstanceOf(Promise)
      expect(open('video')).not.toBeInstanceOf(Promise)
      expect(counted.reads).toBe(1)
    }
  })

  it('are read once for all concurrent requests', async () => {
    const { open, counted } = startGates({ usd: 1 })
    await Promise.all([open(), open(), open('video')])
    expect(counted.reads).toBe(1)
  })
})
