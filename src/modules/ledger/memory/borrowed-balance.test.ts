import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BorrowedBalance, type LentAmount, type SpentPart } from './borrowed-balance.ts'

describe('a balance', () => {
  test('has nothing before anything is lent', () => {
    const balance = new BorrowedBalance()
    expect(balance.tryHold(1n)).toBe(false)
    expect(balance.tryHold(0n)).toBe(true)
    expect(balance.giveUpFree()).toEqual([])
  })

  test('pays with promotional credit first, what expires sooner before what expires later', () => {
    const balance = new BorrowedBalance()
    balance.receive([
      lent('paid', 10n, { class: 'paid' }),
      lent('for ever', 10n, { class: 'promotional' }),
      lent('late', 10n, { class: 'promotional', expiresAtMs: 2_000 }),
      lent('soon', 10n, { class: 'promotional', expiresAtMs: 1_000 }),
    ])
    expect(balance.tryHold(35n)).toBe(true)
    const parts = balance.settle(35n, 35n)
    expect(parts.map(({ lease, amountNanoUsd }) => [lease.id, amountNanoUsd])).toEqual([
      ['soon', 10n],
      ['late', 10n],
      ['for ever', 10n],
      ['paid', 5n],
    ])
  })

  test('frees what a charge leaves of its hold', () => {
    const balance = balanceOf(100n)
    balance.tryHold(80n)
    balance.settle(80n, 30n)
    expect([balance.freeNanoUsd, balance.heldNanoUsd]).toEqual([70n, 0n])
  })

  test('refuses a charge that is larger than its hold, and changes nothing', () => {
    const balance = balanceOf(100n)
    balance.tryHold(50n)
    expect(() => balance.settle(50n, 51n)).toThrow('does not fit')
    expect(() => balance.settle(50n, -1n)).toThrow('does not fit')
    expect([balance.freeNanoUsd, balance.heldNanoUsd]).toEqual([50n, 50n])
  })

  test('refuses to release more than is held', () => {
    expect(() => balanceOf(100n).release(1n)).toThrow('holds -1')
  })

  test('takes over the whole lease, so that a lost response does no harm', () => {
    const balance = balanceOf(100n)
    balance.tryHold(40n)
    balance.settle(40n, 40n)
    // The database lent 50 more in a response that was lost, and now 25.
    balance.receive([lent('a', 175n, { spentNanoUsd: 0n })])
    expect(balance.freeNanoUsd).toBe(135n)
  })

  test('gives back paid credit before promotional credit, and no held credit', () => {
    const balance = new BorrowedBalance()
    balance.receive([lent('promo', 10n, { class: 'promotional' }), lent('paid', 10n)])
    balance.tryHold(15n)
    expect(balance.giveUpFree()).toMatchObject([{ id: 'paid', amountNanoUsd: 5n }])
    expect(balance.settle(15n, 15n).map(({ lease }) => lease.id)).toEqual(['promo', 'paid'])
  })

  test('reports expired credit, but not spent credit', () => {
    const balance = new BorrowedBalance()
    balance.receive([lent('promo', 10n, { class: 'promotional', expiresAtMs: 1_000 }), lent('paid', 10n)])
    expect([balance.hasExpired(999), balance.hasExpired(1_000)]).toEqual([false, true])
    balance.tryHold(10n)
    balance.settle(10n, 10n)
    expect(balance.hasExpired(1_000)).toBe(false)
  })
})

test('credit neither appears nor disappears in any sequence of operations', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const history = new BalanceHistory()
      for (const one of steps) history.run(one)
    }),
    { numRuns: 5_000 },
  )
})

interface Step {
  readonly do: 'lend' | 'hold' | 'settle' | 'release' | 'undo' | 'giveUp'
  readonly lease: number
  readonly amount: bigint
  /** Index into the current holds or charges. */
  readonly which: number
}

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom('lend', 'hold', 'hold', 'settle', 'settle', 'release', 'undo', 'giveUp'),
  lease: fc.nat(3),
  amount: fc.bigInt(0n, 100n),
  which: fc.nat(20),
})

const CLASSES = ['promotional', 'promotional', 'paid', 'paid'] as const

/** A balance and a simple model of it: three numbers, and each lease as the database has it. */
class BalanceHistory {
  readonly #balance = new BorrowedBalance()
  readonly #leases = new Map<number, bigint>()
  readonly #holds: bigint[] = []
  readonly #charges: SpentPart[][] = []
  #free = 0n
  #spent = 0n

  run(step: Step): void {
    this.#steps[step.do](step)
    this.#check()
  }

  readonly #steps: Record<Step['do'], (step: Step) => void> = {
    lend: ({ lease, amount }) => {
      const total = (this.#leases.get(lease) ?? 0n) + amount
      this.#leases.set(lease, total)
      this.#free += amount
      const expiresAtMs = lease === 0 ? 1_000 : null
      this.#balance.receive([lent(String(lease), total, { class: CLASSES[lease] ?? 'paid', expiresAtMs })])
    },
    hold: ({ amount }) => {
      expect(this.#balance.tryHold(amount)).toBe(amount <= this.#free)
      if (amount > this.#free) return
      this.#free -= amount
      this.#holds.push(amount)
    },
    settle: ({ amount, which }) => {
      const [held] = this.#holds.splice(which % (this.#holds.length || 1), 1)
      if (held === undefined) return
      const charged = amount < held ? amount : held
      const promotional = this.#unspentPromotional()
      const parts = this.#balance.settle(held, charged)
      expect(sumOf(parts.map(({ amountNanoUsd }) => amountNanoUsd))).toBe(charged)
      const paid = parts.filter(({ lease }) => lease.class === 'paid')
      if (paid.length > 0) expect(charged).toBeGreaterThan(promotional)
      this.#free += held - charged
      this.#spent += charged
      this.#charges.push(parts)
    },
    release: ({ which }) => {
      const [held] = this.#holds.splice(which % (this.#holds.length || 1), 1)
      if (held === undefined) return
      this.#balance.release(held)
      this.#free += held
    },
    undo: ({ which }) => {
      const [parts] = this.#charges.splice(which % (this.#charges.length || 1), 1)
      if (parts === undefined) return
      const amount = sumOf(parts.map(({ amountNanoUsd }) => amountNanoUsd))
      this.#balance.unspend(parts)
      this.#free += amount
      this.#spent -= amount
    },
    giveUp: () => {
      const heldBefore = this.#balance.heldNanoUsd
      for (const { id, amountNanoUsd } of this.#balance.giveUpFree())
        this.#leases.set(Number(id), amountNanoUsd)
      expect(this.#balance.heldNanoUsd).toBe(heldBefore)
      expect(this.#balance.freeNanoUsd).toBe(0n)
      this.#free = 0n
    },
  }

  #unspentPromotional(): bigint {
    const promotional = this.#balance.leases.filter((lease) => lease.class === 'promotional')
    return sumOf(promotional.map((lease) => lease.amountNanoUsd - lease.spentNanoUsd))
  }

  #check(): void {
    const held = sumOf(this.#holds)
    expect([this.#balance.freeNanoUsd, this.#balance.heldNanoUsd]).toEqual([this.#free, held])
    expect(this.#free + held + this.#spent).toBe(sumOf([...this.#leases.values()]))
    for (const { spentNanoUsd, amountNanoUsd } of this.#balance.leases) {
      if (spentNanoUsd < 0n || spentNanoUsd > amountNanoUsd) throw new Error('a lease is overspent')
    }
  }
}

function balanceOf(amountNanoUsd: bigint): BorrowedBalance {
  const balance = new BorrowedBalance()
  balance.receive([lent('a', amountNanoUsd)])
  return balance
}

function lent(id: string, amountNanoUsd: bigint, overrides: Partial<LentAmount> = {}): LentAmount {
  return { id, class: 'paid', expiresAtMs: null, spentNanoUsd: 0n, amountNanoUsd, ...overrides }
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n)
}
