import type { LaneQuality } from './compare-scores.ts'
import type { DecidedLane, DecisionBasis, RunDecision } from './run-decision.ts'

type Described = Pick<RunDecision, 'outcome' | 'basis' | 'winnerLaneId' | 'recommendedLaneId' | 'lanes'>

/** Says in sentences which lane to take: the quality with its intervals, then cost and time, then what failed. */
export function describeDecision(decision: Described): string {
  const sentences = [describeQuality(decision), describePrice(decision), describeFailures(decision.lanes)]
  return sentences.filter((sentence) => sentence !== '').join(' ')
}

const WORDS: Readonly<Record<DecisionBasis, string>> = {
  people: 'by the votes of people it wins',
  score: 'its score is',
  judge: 'by the votes of the judge it wins',
}

interface RatedLane extends DecidedLane {
  readonly quality: LaneQuality
}

function rated(lanes: readonly DecidedLane[]): RatedLane[] {
  return lanes
    .flatMap(({ quality, ...lane }) => (quality === null ? [] : [{ ...lane, quality }]))
    .toSorted((one, other) => other.quality.mean - one.quality.mean)
}

function describeQuality({ outcome, basis, lanes }: Described): string {
  const [best, second, ...rest] = rated(lanes)
  if (outcome === 'not_enough_data' || basis === null || best === undefined || second === undefined)
    return 'Not enough to tell: at least six prompts need votes, a judge or expected answers.'
  if (outcome === 'better')
    return `${best.name} is better: ${WORDS[basis]} ${figure(best)}, and ${second.name} comes next with ${figure(second)}.`
  const level = [best, second, ...rest].filter(({ quality }) => !quality.isWorse)
  const worse = [best, second, ...rest].filter(({ quality }) => quality.isWorse)
  const between = level.map((lane) => `${lane.name} with ${figure(lane)}`)
  const end =
    worse.length === 0
      ? '.'
      : `; ${list(worse.map(({ name }) => name))} ${worse.length === 1 ? 'is' : 'are'} worse.`
  return `No clear difference between ${list(between)}${end}`
}

/** Compares the recommended lane with the best of the others. */
function describePrice({ lanes, outcome, recommendedLaneId }: Described): string {
  const chosen = lanes.find(({ laneId }) => laneId === recommendedLaneId)
  const other = rated(lanes).find(({ laneId }) => laneId !== recommendedLaneId)
  if (chosen === undefined || other === undefined) return ''
  const cost = compareAmounts(chosen.costUsd, other.costUsd, COST_WORDS)
  const time = compareAmounts(chosen.latencyMs, other.latencyMs, TIME_WORDS)
  const both = [cost, time].filter((part) => part !== null).join(' and ')
  if (both === '') return ''
  return outcome === 'better'
    ? `Compared with ${other.name} it ${both}.`
    : `Take ${chosen.name}: compared with ${other.name} it ${both}.`
}

interface AmountWords {
  readonly verb: string
  readonly more: string
  readonly less: string
  readonly same: string
}

const COST_WORDS: AmountWords = { verb: 'costs', more: 'as much', less: 'less', same: 'costs about the same' }
const TIME_WORDS: AmountWords = {
  verb: 'takes',
  more: 'as long',
  less: 'less time',
  same: 'takes about as long',
}

const SAME_SHARE = 0.05

function compareAmounts(
  own: number | null,
  other: number | null,
  { verb, more, less, same }: AmountWords,
): string | null {
  if (own === null || other === null || other <= 0 || own <= 0) return null
  const ratio = own / other
  if (Math.abs(ratio - 1) < SAME_SHARE) return same
  return ratio > 1
    ? `${verb} ${ratio.toFixed(1)} times ${more}`
    : `${verb} ${Math.round((1 - ratio) * 100)} % ${less}`
}

function describeFailures(lanes: readonly DecidedLane[]): string {
  const failed = lanes.filter((lane) => lane.failed > 0)
  return failed
    .map((lane) => `${lane.name} failed ${lane.failed === 1 ? 'one answer' : `${lane.failed} answers`}.`)
    .join(' ')
}

function figure({ quality: { mean, interval } }: RatedLane): string {
  return `${percent(mean)} % (${percent(interval.low)}–${percent(interval.high)} %)`
}

function percent(share: number): number {
  return Math.round(share * 100)
}

function list(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}
