import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decideVerdict } from './decide-verdict.ts'
import { addDuel, createWinTable, fitStrengths } from './fit-strengths.ts'
import { rankContestants, type Ballot, type Duel } from './rank-contestants.ts'
import { createRandom, type SeededRandom } from '../../kernel/seeded-random.ts'

const duel = (one: string, other: string, winner: string | null): Duel => ({ one, other, winner })
const times = (count: number, ballot: Ballot): Ballot[] => Array.from({ length: count }, () => ballot)
const verdictOf = async (names: string[], ballots: Ballot[]) =>
  decideVerdict(await rankContestants(names, ballots, { seed: 1 }), ballots.length, (name) => name)

describe('strengths', () => {
  test('match a worked example', () => {
    // Wins in an example from an encyclopedia, times 1,000, so that the prior has almost no weight.
    const games = [
      [0, 2, 0, 1],
      [3, 0, 5, 0],
      [0, 3, 0, 1],
      [4, 0, 3, 0],
    ]
    const table = createWinTable(4)
    for (const [one, row] of games.entries())
      for (const [other, won] of row.entries()) addDuel(table, one, other, won * 1_000)
    const [a = 0, b = 0, c = 0, d = 0] = fitStrengths(table)
    expect(a).toBeCloseTo(0.64, 2)
    expect(b).toBeCloseTo(1.043, 2)
    expect(c).toBeCloseTo(0.66, 2)
    expect(d).toBeCloseTo(2.27, 2)
  })

  test('are finite however one-sided the games are, have a geometric mean of one, and follow the wins of two contestants', () => {
    fc.assert(
      fc.property(fc.nat({ max: 10_000 }), fc.nat({ max: 10_000 }), (won, lost) => {
        const table = createWinTable(2)
        addDuel(table, 0, 1, won)
        addDuel(table, 1, 0, lost)
        const [one = NaN, other = NaN] = fitStrengths(table)
        expect(one * other).toBeCloseTo(1, 6)
        expect(Math.sign(one - other)).toBe(Math.sign(won - lost))
      }),
    )
  })

  test('do not depend on the numbering of contestants', () => {
    const order = fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 })
    const wins = fc.array(fc.nat({ max: 20 }), { minLength: 16, maxLength: 16 })
    fc.assert(
      fc.property(order, wins, (places, counts) => {
        const [straight, shuffled] = [createWinTable(4), createWinTable(4)]
        for (const [index, count] of counts.entries()) {
          const [one, other] = [Math.floor(index / 4), index % 4]
          if (one === other) continue
          addDuel(straight, one, other, count)
          addDuel(shuffled, places[one] ?? 0, places[other] ?? 0, count)
        }
        const [before, after] = [fitStrengths(straight), fitStrengths(shuffled)]
        for (const [index, place] of places.entries())
          expect(Math.log(after[place] ?? NaN)).toBeCloseTo(Math.log(before[index] ?? NaN), 2)
      }),
    )
  })
})

describe('a ranking', () => {
  test('finds the order behind noisy votes, with intervals that contain the true values', async () => {
    const truth = { worst: 0.25, poor: 0.5, fair: 1, good: 2, best: 4 }
    const names = Object.keys(truth)
    const ballots = drawBallots(truth, 1_500, createRandom(3))
    const standings = await rankContestants(names, ballots, { seed: 9 })
    expect(standings.map(({ contestant }) => contestant)).toEqual(names.toReversed())
    for (const { contestant, interval, rating } of standings) {
      const strength = truth[contestant as keyof typeof truth]
      const expected = 1_000 + 400 * Math.log10(strength)
      expect(Math.abs(rating - expected)).toBeLessThan(60)
      expect(interval?.low).toBeLessThan(rating)
      expect(interval?.high).toBeGreaterThan(rating)
    }
    expect(standings.map(({ rank }) => rank)).toEqual([1, 2, 3, 4, 5])
  })

  test('is the same for the same votes and seed, and is consistent', async () => {
    const names = ['a', 'b', 'c']
    const ballots = drawBallots({ a: 1, b: 1, c: 1 }, 200, createRandom(1))
    const standings = await rankContestants(names, ballots, { seed: 4 })
    expect(await rankContestants(names, ballots, { seed: 4 })).toEqual(standings)
    const [wins, losses] = [
      standings.reduce((sum, { wins: won }) => sum + won, 0),
      standings.reduce((sum, { losses: lost }) => sum + lost, 0),
    ]
    expect([wins, losses]).toEqual([200, 200])
  })

  test('gives no interval for a contestant with too few games', async () => {
    const standings = await rankContestants(['a', 'b', 'new'], times(40, [duel('a', 'b', 'a')]), { seed: 1 })
    const unknown = standings.find(({ contestant }) => contestant === 'new')
    expect(unknown).toMatchObject({ interval: null, rank: 1, wins: 0, losses: 0, ties: 0 })
  })

  test('ignores games of a contestant with itself', async () => {
    const [first] = await rankContestants(['a', 'b'], times(10, [duel('a', 'a', 'a')]), { seed: 1 })
    expect(first).toMatchObject({ rating: 1_000, wins: 0 })
  })

  test('a ranking of ten times as many votes takes about ten times the work at most', async () => {
    const truth = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`model-${index}`, 1 + index]))
    const workFor = async (votes: number): Promise<number> => {
      const ballots = drawBallots(truth, votes, createRandom(8))
      // CPU time instead of elapsed time, which depends on other load of the machine.
      const started = process.cpuUsage()
      const standings = await rankContestants(Object.keys(truth), ballots, { seed: 2 })
      const { user, system } = process.cpuUsage(started)
      expect(standings).toHaveLength(60)
      return user + system
    }
    const few = await workFor(2_000)
    expect(await workFor(20_000)).toBeLessThan(few * 40)
  })
})

describe('a verdict', () => {
  test('names the better one if the votes are clear', async () => {
    expect(await verdictOf(['a', 'b'], times(8, [duel('a', 'b', 'b')]))).toEqual({
      outcome: 'better',
      contestant: 'b',
      text: 'b is better',
    })
  })

  test('is no significant difference if intervals overlap, and if there are only ties', async () => {
    const split = [...times(11, [duel('a', 'b', 'a')]), ...times(9, [duel('a', 'b', 'b')])]
    for (const ballots of [split, times(30, [duel('a', 'b', null)])]) {
      expect(await verdictOf(['a', 'b'], ballots)).toEqual({
        outcome: 'no_significant_difference',
        text: 'no significant difference',
      })
    }
  })

  test('is that there are too few votes, however clear they are', async () => {
    for (const count of [0, 1, 5])
      expect(await verdictOf(['a', 'b'], times(count, [duel('a', 'b', 'a')]))).toMatchObject({
        outcome: 'not_enough_votes',
      })
  })

  test('names no winner while a third contestant could be as good', async () => {
    const ballots = times(20, [duel('a', 'b', 'a')])
    expect(await verdictOf(['a', 'b', 'new'], ballots)).toEqual({
      outcome: 'no_significant_difference',
      text: 'a is better than b; too few votes on new',
    })
  })

  test('without a winner names those that are clearly worse', async () => {
    const ballots = ['a', 'b'].flatMap((good) =>
      ['c', 'd'].flatMap((bad) => times(30, [duel(good, bad, good)])),
    )
    expect(await verdictOf(['a', 'b', 'c', 'd'], [...ballots, ...times(2, [duel('a', 'b', null)])])).toEqual({
      outcome: 'no_significant_difference',
      text: expect.stringMatching(
        /^no significant difference between [ab] and [ab]; [cd] and [cd] are worse$/,
      ),
    })
  })

  test('is wrong about equal contestants about one time in twenty', async () => {
    let wrong = 0
    for (let seed = 0; seed < 100; seed += 1) {
      const ballots = drawBallots({ a: 1, b: 1 }, 40, createRandom(seed))
      if ((await verdictOf(['a', 'b'], ballots)).outcome === 'better') wrong += 1
    }
    expect(wrong).toBeLessThanOrEqual(10)
  })
})

function drawBallots(truth: Readonly<Record<string, number>>, count: number, random: SeededRandom): Ballot[] {
  const names = Object.keys(truth)
  return Array.from({ length: count }, () => {
    const one = names[random.below(names.length)] ?? ''
    const others = names.filter((name) => name !== one)
    const other = others[random.below(others.length)] ?? ''
    const chance = (truth[one] ?? 0) / ((truth[one] ?? 0) + (truth[other] ?? 0))
    return [duel(one, other, random.next() < chance ? one : other)]
  })
}
