import * as fc from 'fast-check'

interface StepDetails {
  grant: { key: number; amount: bigint; class: 'paid' | 'promotional'; isExpiring: boolean }
  reverse: { key: number; amount: bigint }
  deduct: { key: number; amount: bigint }
  openHold: { key: number; amount: bigint }
  settleHold: { key: number; cost: bigint }
  releaseHold: { key: number }
  expire: object
  hold: { process: number; wanted: bigint; least: bigint }
  cover: { which: number; cost: bigint }
  settle: { which: number; cost: bigint; isDelivered: boolean }
  release: { which: number }
  burst: { jobs: readonly { process: number; wanted: bigint; cost: bigint }[] }
  recall: object
  reopen: { process: number }
  declareDead: { process: number }
}

export type StepOf<Name extends keyof StepDetails> = StepDetails[Name] & { readonly do: Name }

/** One thing that happens to an account. `process` is 0 or 1; the same `key` comes again now and then. */
export type LedgerStep = { [Name in keyof StepDetails]: StepOf<Name> }[keyof StepDetails]

const amount = fc.bigInt(1n, 300n)
const key = fc.nat(2)
const process = fc.nat(1)
const cost = fc.bigInt(0n, 120n)

/** Each with how often it happens. */
const ARBITRARIES: { [Name in keyof StepDetails]: [number, fc.Arbitrary<StepDetails[Name]>] } = {
  grant: [
    3,
    fc.record({
      key: fc.nat(4),
      amount,
      class: fc.constantFrom('paid', 'promotional'),
      isExpiring: fc.boolean(),
    }),
  ],
  reverse: [1, fc.record({ key, amount })],
  deduct: [1, fc.record({ key, amount })],
  openHold: [2, fc.record({ key, amount: cost })],
  settleHold: [1, fc.record({ key, cost })],
  releaseHold: [1, fc.record({ key })],
  expire: [1, fc.constant({})],
  hold: [
    6,
    fc.tuple(process, cost, cost).map(([process, first, second]) => ({
      process,
      wanted: first > second ? first : second,
      least: first > second ? second : first,
    })),
  ],
  cover: [2, fc.record({ which: fc.nat(5), cost: amount })],
  settle: [5, fc.record({ which: fc.nat(5), cost, isDelivered: fc.boolean() })],
  release: [2, fc.record({ which: fc.nat(5) })],
  burst: [
    2,
    fc.record({ jobs: fc.array(fc.record({ process, wanted: cost, cost }), { minLength: 2, maxLength: 8 }) }),
  ],
  recall: [1, fc.constant({})],
  reopen: [1, fc.record({ process })],
  declareDead: [1, fc.record({ process })],
}

const step = fc.oneof(
  ...Object.entries(ARBITRARIES).map(([name, [weight, details]]) => ({
    weight,
    arbitrary: details.map((values) => ({ ...values, do: name }) as LedgerStep),
  })),
)

export interface History {
  /** The cap of the account's key. */
  readonly limit: bigint | null
  readonly credit: bigint
  readonly steps: readonly LedgerStep[]
}

export const history: fc.Arbitrary<History> = fc.record({
  limit: fc.option(fc.bigInt(1n, 600n), { freq: 3 }),
  credit: fc.bigInt(0n, 500n),
  steps: fc.array(step, { minLength: 1, maxLength: 14, size: 'max' }),
})
