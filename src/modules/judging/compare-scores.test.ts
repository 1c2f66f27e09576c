import { describe, expect, test } from 'vitest'
import { createRandom } from '../../kernel/seeded-random.ts'
import { compareScores } from './compare-scores.ts'
import { describeDecision } from './describe-decision.ts'
import type { DecidedLane } from './run-decision.ts'

describe('scores of lanes', () => {
  test('find a small difference that is the same in every prompt, though prompts differ much', async () => {
    const random = createRandom(3)
    const plain = Array.from({ length: 40 }, () => random.next() * 0.9)
    const scores = new Map([
      ['plain', plain],
      ['better', plain.map((score) => score + 0.05)],
    ])
    const [best, other] = await compareScores(scores, { seed: 1 })
    expect([best?.laneId, best?.isWorse, best?.lead]).toEqual(['better', false, 1])
    expect([other?.laneId, other?.isWorse]).toEqual(['plain', true])
    // Their own intervals overlap: only the difference is certain.
    expect(best?.interval.low).toBeLessThan(other?.interval.high ?? 0)
  })

  test('scores of equal lanes name a better one about one time in twenty', async () => {
    let wrong = 0
    for (let seed = 0; seed < 100; seed += 1) {
      const random = createRandom(seed)
      const draw = () => Array.from({ length: 40 }, () => Number(random.next() < 0.5))
      const found = await compareScores(
        new Map([
          ['a', draw()],
          ['b', draw()],
        ]),
        { seed },
      )
      if (found.some(({ isWorse }) => isWorse)) wrong += 1
    }
    expect(wrong).toBeLessThanOrEqual(12)
  })

  test('share the lead if they are the same, and are nothing for no prompts', async () => {
    const found = await compareScores(
      new Map([
        ['a', [1, 0, 1]],
        ['b', [1, 0, 1]],
      ]),
      { seed: 1 },
    )
    expect(found.map(({ lead, isWorse }) => [lead, isWorse])).toEqual([
      [expect.closeTo(0.5), false],
      [expect.closeTo(0.5), false],
    ])
    expect(await compareScores(new Map(), { seed: 1 })).toEqual([])
    expect(await compareScores(new Map([['a', []]]), { seed: 1 })).toEqual([])
  })
})

describe('a decision in words', () => {
  const lane = (laneId: string, mean: number, others: Partial<DecidedLane> = {}): DecidedLane => ({
    laneId,
    name: laneId,
    quality: { laneId, mean, interval: { low: mean - 0.05, high: mean + 0.05 }, lead: 0.9, isWorse: false },
    costUsd: 0.001,
    latencyMs: 1_000,
    failed: 0,
    ...others,
  })

  test('weighs the quality of the winner against its cost and time', () => {
    const lanes = [lane('small', 0.6), lane('large', 0.9, { costUsd: 0.0031, latencyMs: 700 })]
    expect(
      describeDecision({
        outcome: 'better',
        basis: 'score',
        winnerLaneId: 'large',
        recommendedLaneId: 'large',
        lanes,
      }),
    ).toBe(
      'large is better: its score is 90 % (85–95 %), and small comes next with 60 % (55–65 %). ' +
        'Compared with small it costs 3.1 times as much and takes 30 % less time.',
    )
  })

  test('recommends the cheapest of those that are level, and tells what failed', () => {
    const worse = lane('tiny', 0.2, { failed: 3 })
    const lanes = [
      lane('small', 0.8, { costUsd: 0.0004 }),
      lane('large', 0.82, { latencyMs: 1_020 }),
      { ...worse, quality: worse.quality && { ...worse.quality, isWorse: true } },
    ]
    expect(
      describeDecision({
        outcome: 'no_clear_difference',
        basis: 'judge',
        winnerLaneId: null,
        recommendedLaneId: 'small',
        lanes,
      }),
    ).toBe(
      'No clear difference between large with 82 % (77–87 %) and small with 80 % (75–85 %); tiny is worse. ' +
        'Take small: compared with large it costs 60 % less and takes about as long. tiny failed 3 answers.',
    )
  })

  test('says what is missing', () => {
    const lanes = [lane('a', 0, { quality: null }), lane('b', 0, { quality: null, failed: 1 })]
    expect(
      describeDecision({
        outcome: 'not_enough_data',
        basis: null,
        winnerLaneId: null,
        recommendedLaneId: null,
        lanes,
      }),
    ).toBe(
      'Not enough to tell: at least six prompts need votes, a judge or expected answers. b failed one answer.',
    )
  })
})
