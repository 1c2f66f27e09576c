import { createHash } from 'node:crypto'

/** A run whose lanes nobody shall recognise. */
export interface BlindRun {
  readonly isBlind: boolean
  readonly seed: number
  readonly lanes: readonly { readonly id: string }[]
}

/** What of a run a voter has decided about, and so may know. */
export interface Revealed {
  readonly isAll: boolean
  readonly prompts: ReadonlySet<number>
}

/** What of a cell tells who made it, beside what it says. */
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
  readonly judge: unknown
  readonly startedAt: Date | null
  readonly completedAt: Date | null
}

/** By what a lane goes in one prompt of a blind run: another name in every prompt, and the same for every reader. */
export function blindLaneId({ seed }: BlindRun, promptIndex: number, laneId: string): string {
  const hex = createHash('md5').update(`${seed}:${promptIndex}:${laneId}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

function isHidden({ isBlind }: BlindRun, promptIndex: number, revealed: Revealed): boolean {
  return isBlind && !revealed.isAll && !revealed.prompts.has(promptIndex)
}

/** The cell as somebody may see it who has not voted yet: what was said, and nothing that tells by whom. */
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
    judge: null,
    startedAt: null,
    completedAt: null,
  }
}

/** A run as one voter may see it. */
export interface BlindView {
  /** Whether lanes cannot be told apart in any prompt, or in this one. */
  isHidden(promptIndex?: number): boolean
  present<Cell extends TellingCell>(cell: Cell): Cell
}

export function createBlindView(run: BlindRun, revealed: Revealed): BlindView {
  return {
    isHidden: (promptIndex) =>
      promptIndex === undefined ? run.isBlind && !revealed.isAll : isHidden(run, promptIndex, revealed),
    present: (cell) => presentBlind(run, cell, revealed),
  }
}

/** The lane of this id, which in a blind run may be its name of one prompt; null when there is none. */
export function findLane(run: BlindRun, promptIndex: number | null, laneId: string): string | null {
  const wanted = laneId.toLowerCase()
  const found = run.lanes.find(
    ({ id }) =>
      id === wanted || (run.isBlind && promptIndex !== null && blindLaneId(run, promptIndex, id) === wanted),
  )
  return found?.id ?? null
}

/** Names are random, and so is their order. */
function orderBlindLanes(run: BlindRun, promptIndex: number): string[] {
  return run.lanes
    .map(({ id }) => blindLaneId(run, promptIndex, id))
    .toSorted((one, other) => (one < other ? -1 : 1))
}
