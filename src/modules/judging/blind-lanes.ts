import { createHash } from 'node:crypto'

/** A run that may be blind: it hides which lane gave which answer. */
export interface BlindRun {
  readonly isBlind: boolean
  /** What aliases are made from. Nobody is told. */
  readonly aliasKey: string
  readonly lanes: readonly { readonly id: string }[]
}

/** The prompts of a run that a voter has voted on, and whose lanes it may therefore see. */
export interface Revealed {
  readonly isAll: boolean
  readonly prompts: ReadonlySet<number>
  /** In how many votes of this voter on prompts a lane is the winner. */
  readonly ownWins: ReadonlyMap<string, number>
}

/** SQL. Runs of an earlier release have no key of their own. */
export const ALIAS_KEY = 'coalesce(alias_key, seed::text)'

/** The fields of a cell that could reveal its lane. */
interface TellingCell {
  readonly promptIndex: number
  readonly laneId: string
  readonly lanePosition: number
  readonly requestId: string | null
  readonly costNanoUsd: bigint
  readonly usage: unknown
  readonly latencyMs: number | null
  readonly ttftMs: number | null
  readonly model: string | null
  readonly provider: string | null
  readonly reasoning: string | null
  readonly error: { readonly code: string; readonly message: string } | null
  readonly judge: unknown
  readonly score: number | null
  readonly scores: unknown
  readonly startedAt: Date | null
  readonly completedAt: Date | null
}

/** The fields of a lane that could reveal which answers it gave, or how others voted. */
interface TellingLane {
  readonly id: string
  readonly completed: number
  readonly failed: number
  readonly wins: number
  readonly costNanoUsd: bigint
  readonly promptTokens: number
  readonly completionTokens: number
  readonly stats: unknown
}

/** Returns the alias of a lane in one prompt of a blind run. It differs between prompts and is the same for all readers. */
export function blindLaneId({ aliasKey }: BlindRun, promptIndex: number, laneId: string): string {
  const hex = createHash('md5').update(`${aliasKey}:${promptIndex}:${laneId}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

function isHidden({ isBlind }: BlindRun, promptIndex: number, revealed: Revealed): boolean {
  return isBlind && !revealed.isAll && !revealed.prompts.has(promptIndex)
}

/** Messages name providers and models. */
const UNTOLD_FAILURE = 'The answer failed. The reason is shown once you have voted.'

/** Returns the cell as a voter may see it before voting: the answer, without the fields that could reveal its lane. */
export function presentBlind<Cell extends TellingCell>(run: BlindRun, cell: Cell, revealed: Revealed): Cell {
  const { promptIndex, laneId } = cell
  if (!isHidden(run, promptIndex, revealed)) return cell
  const alias = blindLaneId(run, promptIndex, laneId)
  return {
    ...cell,
    laneId: alias,
    lanePosition: orderBlindLanes(run, promptIndex).indexOf(alias),
    requestId: null,
    costNanoUsd: 0n,
    usage: null,
    latencyMs: null,
    ttftMs: null,
    model: null,
    provider: null,
    reasoning: null,
    error: cell.error && { ...cell.error, message: UNTOLD_FAILURE },
    judge: null,
    score: null,
    scores: null,
    startedAt: null,
    completedAt: null,
  }
}

/** A run as one voter may see it. */
export interface BlindView {
  /** Whether the lanes of this prompt are hidden, or, without an index, whether the lanes of any prompt are hidden. */
  isHidden(promptIndex?: number): boolean
  present<Cell extends TellingCell>(cell: Cell): Cell
  /** Returns the lane without what its answers come to and without the votes of others, until all of them are revealed. */
  presentLane<Lane extends TellingLane>(lane: Lane): Lane
  /** Returns the name of a lane in the results of one prompt. */
  nameLane(promptIndex: number, laneId: string): string
}

export interface ViewedRun extends BlindRun {
  readonly promptsTotal: number
}

export function createBlindView(run: ViewedRun, revealed: Revealed): BlindView {
  // By votes on each prompt, or on the run.
  const isWhole = !run.isBlind || revealed.isAll || revealed.prompts.size >= run.promptsTotal
  return {
    isHidden: (promptIndex) =>
      !isWhole && (promptIndex === undefined || isHidden(run, promptIndex, revealed)),
    presentLane: (lane) =>
      isWhole ? lane : { ...lane, ...UNTOLD, wins: revealed.ownWins.get(lane.id) ?? 0 },
    present: (cell) => presentBlind(run, cell, revealed),
    nameLane: (promptIndex, laneId) =>
      isHidden(run, promptIndex, revealed) ? blindLaneId(run, promptIndex, laneId) : laneId,
  }
}

const UNTOLD = {
  completed: 0,
  failed: 0,
  costNanoUsd: 0n,
  promptTokens: 0,
  completionTokens: 0,
  stats: null,
} as const

/** Returns the id of the lane with this id or, in a blind run, with this alias in the prompt. Null if there is none. */
export function findLane(run: BlindRun, promptIndex: number | null, laneId: string): string | null {
  const wanted = laneId.toLowerCase()
  const found = run.lanes.find(
    ({ id }) =>
      id === wanted || (run.isBlind && promptIndex !== null && blindLaneId(run, promptIndex, id) === wanted),
  )
  return found?.id ?? null
}

/** Sorts by alias. Aliases are hashes, so the order does not depend on the lanes' positions. */
function orderBlindLanes(run: BlindRun, promptIndex: number): string[] {
  return run.lanes
    .map(({ id }) => blindLaneId(run, promptIndex, id))
    .toSorted((one, other) => (one < other ? -1 : 1))
}
