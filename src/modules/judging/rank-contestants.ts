import { boundResamples, intervalOf, type Interval } from './bootstrap-interval.ts'
import { addDuel, createWinTable, fitStrengths, type WinTable } from './fit-strengths.ts'
import { createRandom } from '../../kernel/seeded-random.ts'
import { ShortTurns } from '../../kernel/turns/short-turns.ts'

/** One comparison of two contestants. */
export interface Duel {
  readonly one: string
  readonly other: string
  /** Null for a tie. */
  readonly winner: string | null
}

/** Duels that depend on each other, such as all votes on one prompt. Resampling draws them together or not at all. */
export type Ballot = readonly Duel[]

export interface Standing {
  readonly contestant: string
  /** One plus the number of contestants that are significantly better. */
  readonly rank: number
  /** An Elo-like rating: 1,000 is the middle, and 400 points more mean ten wins to one. */
  readonly rating: number
  /** Null if the contestant had fewer than `DUELS_MIN` duels. */
  readonly interval: Interval | null
  readonly wins: number
  readonly losses: number
  readonly ties: number
  /** The share of the samples in which it was rated best. */
  readonly lead: number
}

/** Fewer duels agree by chance too often: a coin shows the same side six times in one of thirty-two series. */
export const DUELS_MIN = 6

const RATING_MIDDLE = 1_000
const RATING_PER_TENFOLD = 400
const RESAMPLES = 400

/** Ranks all contestants, best first, including those without a duel. The same ballots and seed give the same ranking. */
export async function rankContestants(
  contestants: readonly string[],
  ballots: readonly Ballot[],
  { seed }: { seed: number },
): Promise<Standing[]> {
  const turns = new ShortTurns()
  const patterns = await groupBallots(contestants, ballots, turns)
  const all = tabulate(contestants.length, patterns.list, patterns.counts)
  const strengths = fitStrengths(all)
  const samples = await resample({ size: contestants.length, patterns, strengths, seed, turns })
  const leads = countLeads(samples)
  const records = await countDuels(contestants, ballots, turns)
  const unranked = contestants.map((contestant, index) => {
    const record = records.get(contestant) ?? { wins: 0, losses: 0, ties: 0 }
    const isKnown = record.wins + record.losses + record.ties >= DUELS_MIN
    return {
      contestant,
      rating: toRating(strengths[index] ?? 1),
      interval: isKnown ? intervalOf(samples[index] ?? new Float64Array(0)) : null,
      ...record,
      lead: leads[index] ?? 0,
    }
  })
  const best = unranked.toSorted((one, other) => other.rating - one.rating)
  return best.map((standing) => ({
    ...standing,
    rank: 1 + best.filter(({ interval }) => isSurelyAbove(interval, standing.interval)).length,
  }))
}

function isSurelyAbove(one: Interval | null, other: Interval | null): boolean {
  return one !== null && other !== null && one.low > other.high
}

type IndexedDuel = readonly [winner: number, loser: number, weight: number]

/** Equal ballots are stored once with a count. */
interface Patterns {
  readonly list: readonly (readonly IndexedDuel[])[]
  readonly counts: Float64Array
  /** The index of each ballot's pattern. */
  readonly ofBallot: Int32Array
}

async function groupBallots(
  contestants: readonly string[],
  ballots: readonly Ballot[],
  turns: ShortTurns,
): Promise<Patterns> {
  const indexes = new Map(contestants.map((contestant, index) => [contestant, index]))
  const known = new Map<string, number>()
  const list: IndexedDuel[][] = []
  const ofBallot = new Int32Array(ballots.length)
  for (const [number, ballot] of ballots.entries()) {
    const duels = ballot.flatMap((duel) => indexDuel(duel, indexes))
    const name = duels.map((duel) => duel.join(':')).join(' ')
    const pattern = known.get(name) ?? list.push(duels) - 1
    known.set(name, pattern)
    ofBallot[number] = pattern
    if (turns.isOver) await turns.next()
  }
  const counts = new Float64Array(list.length)
  for (const pattern of ofBallot) counts[pattern] = (counts[pattern] ?? 0) + 1
  return { list, counts, ofBallot }
}

function indexDuel({ one, other, winner }: Duel, indexes: ReadonlyMap<string, number>): IndexedDuel[] {
  const first = indexes.get(one)
  const second = indexes.get(other)
  if (first === undefined || second === undefined || first === second) return []
  if (winner === null) {
    return [
      [first, second, 0.5],
      [second, first, 0.5],
    ]
  }
  return winner === one ? [[first, second, 1]] : [[second, first, 1]]
}

function tabulate(
  size: number,
  list: readonly (readonly IndexedDuel[])[],
  counts: ArrayLike<number>,
): WinTable {
  const table = createWinTable(size)
  for (const [index, duels] of list.entries()) {
    const count = counts[index] ?? 0
    if (count > 0) for (const [winner, loser, weight] of duels) addDuel(table, winner, loser, weight * count)
  }
  return table
}

/** Returns the ratings of each contestant in samples drawn from the ballots. */
async function resample({
  size,
  patterns: { list, ofBallot },
  strengths,
  seed,
  turns,
}: {
  size: number
  patterns: Patterns
  strengths: Float64Array
  seed: number
  turns: ShortTurns
}): Promise<Float64Array[]> {
  const random = createRandom(seed)
  const rounds = boundResamples(RESAMPLES, ofBallot.length)
  const samples = Array.from({ length: size }, () => new Float64Array(rounds))
  const counts = new Float64Array(list.length)
  for (let round = 0; round < rounds; round += 1) {
    counts.fill(0)
    for (let draw = 0; draw < ofBallot.length; draw += 1) {
      const pattern = ofBallot[random.below(ofBallot.length)] ?? 0
      counts[pattern] = (counts[pattern] ?? 0) + 1
    }
    const drawn = fitStrengths(tabulate(size, list, counts), strengths)
    for (const [index, sample] of samples.entries()) sample[round] = toRating(drawn[index] ?? 1)
    if (turns.isOver) await turns.next()
  }
  return samples
}

/** Returns the share of the samples in which each contestant has the highest value. Equal ones share it. */
export function countLeads(samples: readonly Float64Array[]): number[] {
  const rounds = samples[0]?.length ?? 0
  const leads = samples.map(() => 0)
  for (let round = 0; round < rounds; round += 1) {
    const highest = Math.max(...samples.map((sample) => sample[round] ?? -Infinity))
    const first = samples.flatMap((sample, index) => (sample[round] === highest ? [index] : []))
    for (const index of first) leads[index] = (leads[index] ?? 0) + 1 / first.length
  }
  return leads.map((lead) => lead / Math.max(1, rounds))
}

function toRating(strength: number): number {
  return RATING_MIDDLE + RATING_PER_TENFOLD * Math.log10(strength)
}

interface DuelRecord {
  wins: number
  losses: number
  ties: number
}

async function countDuels(
  contestants: readonly string[],
  ballots: readonly Ballot[],
  turns: ShortTurns,
): Promise<Map<string, DuelRecord>> {
  const records = new Map(contestants.map((contestant) => [contestant, { wins: 0, losses: 0, ties: 0 }]))
  for (const ballot of ballots) {
    for (const duel of ballot) countDuel(records, duel)
    if (turns.isOver) await turns.next()
  }
  return records
}

function countDuel(records: ReadonlyMap<string, DuelRecord>, { one, other, winner }: Duel): void {
  const first = records.get(one)
  const second = records.get(other)
  if (one === other || first === undefined || second === undefined) return
  if (winner === null) {
    first.ties += 1
    second.ties += 1
    return
  }
  const [better, worse] = winner === one ? [first, second] : [second, first]
  better.wins += 1
  worse.losses += 1
}
