import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Purse, type LentAmount, type SpentPart } from './purse.ts'

describe('a purse', () => {
  test('has nothing before anything is lent', () => {
    const purse = new Purse()
    expect(purse.tryHold(1n)).toBe(false)
    expect(purse.tryHold(0n)).toBe(true)
    expect(purse.giveUpFree()).toEqual([])
  })

  test('pays with promotional credit first, what expires sooner before what expires later', () => {
    const purse = new Purse()
    purse.receive([
      lent('paid', 10n, { class: 'paid' }),
      lent('for ever', 10n, { class: 'promotional' }),
      lent('late', 10n, { class: 'promotional', expiresAtMs: 2_000 }),
      lent('soon', 10n, { class: 'promotional', expiresAtMs: 1_000 }),
    ])
    expect(purse.tryHold(35n)).toBe(true)
    const parts = purse.settle(35n, 35n)
    expect(parts.map(({ lease, amountNanoUsd }) => [lease.id, amountNanoUsd])).toEqual([
      ['soon', 10n],
      ['late', 10n],
      ['for ever', 10n],
      ['paid', 5n],
    ])
  })

  test('frees what a charge leaves of its hold', () => {
    const purse = purseOf(100n)
    purse.tryHold(80n)
    purse.settle(80n, 30n)
    expect([purse.freeNanoUsd, purse.heldNanoUsd]).toEqual([70n, 0n])
  })

  test('refuses a charge that is larger than its hold, and changes nothing', () => {
    const purse = purseOf(100n)
    purse.tryHold(50n)
    expect(() => purse.settle(50n, 51n)).toThrow('does not fit')
    expect(() => purse.settle(50n, -1n)).toThrow('does not fit')
    expect([purse.freeNanoUsd, purse.heldNanoUsd]).toEqual([50n, 50n])
  })

  test('refuses to free what nobody holds', () => {
    expect(() => purseOf(100n).release(1n)).toThrow('holds -1')
  })

  test('takes over the whole of a lease, so that an answer that got lost is made up for', () => {
    const purse = purseOf(100n)
    purse.tryHold(40n)
    purse.settle(40n, 40n)
    // The database has lent 50 more in an answer that never arrived, and now 25.
    purse.receive([lent('a', 175n, { spentNanoUsd: 0n })])
    expect(purse.freeNanoUsd).toBe(135n)
  })

  test('gives up paid credit before promotional credit, and nothing that is held', () => {
    const purse = new Purse()
    purse.receive([lent('promo', 10n, { class: 'promotional' }), lent('paid', 10n)])
    purse.tryHold(15n)
    expect(purse.giveUpFree()).toMatchObject([{ id: 'paid', amountNanoUsd: 5n }])
    expect(purse.settle(15n, 15n).map(({ lease }) => lease.id)).toEqual(['promo', 'paid'])
  })

  test('knows when credit in it has expired, but not credit that is spent', () => {
    const purse = new Purse()
    purse.receive([lent('promo', 10n, { class: 'promotional', expiresAtMs: 1_000 }), lent('paid', 10n)])
    expect([purse.hasExpired(999), purse.hasExpired(1_000)]).toEqual([false, true])
    purse.tryHold(10n)
    purse.settle(10n, 10n)
    expect(purse.hasExpired(1_000)).toBe(false)
  })
})

test('whatever happens to a purse, nothing appears and nothing is lost', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const history = new PurseHistory()
      for (const one of steps) history.run(one)
    }),
    { numRuns: 5_000 },
  )
})

interface Step {
  readonly do: 'lend' | 'hold' | 'settle' | 'release' | 'undo' | 'giveUp'
  readonly lease: number
  readonly amount: bigint
  /** Of the holds or charges there are. */
  readonly which: number
}

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom('lend', 'hold', 'hold', 'settle', 'settle', 'release', 'undo', 'giveUp'),
  lease: fc.nat(3),
  amount: fc.bigInt(0n, 100n),
  which: fc.nat(20),
})

const CLASSES = ['promotional', 'promotional', 'paid', 'paid'] as const

/** A purse beside the simplest account of it: three numbers, and what the database would know of each lease. */
class PurseHistory {
  readonly #purse = new Purse()
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
      this.#purse.receive([lent(String(lease), total, { class: CLASSES[lease] ?? 'paid', expiresAtMs })])
    },
    hold: ({ amount }) => {
      expect(this.#purse.tryHold(amount)).toBe(amount <= this.#free)
      if (amount > this.#free) return
      this.#free -= amount
      this.#holds.push(amount)
    },
    settle: ({ amount, which }) => {
      const [held] = this.#holds.splice(which % (this.#holds.length || 1), 1)
      if (held === undefined) return
      const charged = amount < held ? amount : held
      const promotional = this.#unspentPromotional()
      const parts = this.#purse.settle(held, charged)
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
      this.#purse.release(held)
      this.#free += held
    },
    undo: ({ which }) => {
      const [parts] = this.#charges.splice(which % (this.#charges.length || 1), 1)
      if (parts === undefined) return
      const amount = sumOf(parts.map(({ amountNanoUsd }) => amountNanoUsd))
      this.#purse.unspend(parts)
      this.#free += amount
      this.#spent -= amount
    },
    giveUp: () => {
      const heldBefore = this.#purse.heldNanoUsd
      for (const { id, amountNanoUsd } of this.#purse.giveUpFree())
        this.#leases.set(Number(id), amountNanoUsd)
      expect(this.#purse.heldNanoUsd).toBe(heldBefore)
      expect(this.#purse.freeNanoUsd).toBe(0n)
      this.#free = 0n
    },
  }

  #unspentPromotional(): bigint {
    const promotional = this.#purse.leases.filter((lease) => lease.class === 'promotional')
    return sumOf(promotional.map((lease) => lease.amountNanoUsd - lease.spentNanoUsd))
  }

  #check(): void {
    const held = sumOf(this.#holds)
    expect([this.#purse.freeNanoUsd, this.#purse.heldNanoUsd]).toEqual([this.#free, held])
    expect(this.#free + held + this.#spent).toBe(sumOf([...this.#leases.values()]))
    for (const { spentNanoUsd, amountNanoUsd } of this.#purse.leases) {
      if (spentNanoUsd < 0n || spentNanoUsd > amountNanoUsd) throw new Error('a lease is overspent')
    }
  }
}

function purseOf(amountNanoUsd: bigint): Purse {
  const purse = new Purse()
  purse.receive([lent('a', amountNanoUsd)])
  return purse
}

function lent(id: string, amountNanoUsd: bigint, overrides: Partial<LentAmount> = {}): LentAmount {
  return { id, class: 'paid', expiresAtMs: null, spentNanoUsd: 0n, amountNanoUsd, ...overrides }
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n)
}
