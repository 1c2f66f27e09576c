/** What the filters read of an answer. */
interface FilteredCell {
  readonly prompt_index: number
  readonly repeat: number
  readonly lane_id: string
  readonly status: string
  readonly output: string | null
  readonly score: number | null
  readonly judge?: unknown
}

/** What the filters read of a run. */
interface FilteredRun {
  readonly lanes: readonly {
    readonly id: string
    readonly stats: { readonly completed: number; readonly cost_usd: number }
  }[]
}

/** The answers of all lanes to one prompt in one repeat. */
export interface AnsweredPrompt<Cell extends FilteredCell> {
  readonly promptIndex: number
  readonly repeat: number
  readonly cells: readonly Cell[]
}

export const PROMPT_FILTERS = [
  { value: 'all', label: 'All prompts' },
  { value: 'disagree', label: 'Where they disagree' },
  { value: 'cheap_lost', label: 'Where the cheapest lost' },
  { value: 'failed', label: 'Where one failed' },
] as const

export type PromptFilter = (typeof PROMPT_FILTERS)[number]['value']

export function groupByPrompt<Cell extends FilteredCell>(cells: readonly Cell[]): AnsweredPrompt<Cell>[] {
  const groups = Map.groupBy(cells, ({ prompt_index: prompt, repeat }) => `${prompt}.${repeat}`)
  return [...groups.values()].flatMap((ofPrompt) => {
    const [first] = ofPrompt
    return first === undefined
      ? []
      : [{ promptIndex: first.prompt_index, repeat: first.repeat, cells: ofPrompt }]
  })
}

export function filterPrompts<Cell extends FilteredCell>(
  prompts: readonly AnsweredPrompt<Cell>[],
  filter: PromptFilter,
  run: FilteredRun,
): readonly AnsweredPrompt<Cell>[] {
  if (filter === 'all') return prompts
  if (filter === 'failed')
    return prompts.filter(({ cells }) => cells.some(({ status }) => status === 'failed'))
  if (filter === 'disagree') return prompts.filter(({ cells }) => isDisputed(cells))
  const cheapest = findCheapest(run)
  return prompts.filter(({ cells }) => hasLost(cells, cheapest))
}

/** The lane whose answers cost least. Undefined if nothing was answered. */
function findCheapest({ lanes }: FilteredRun): string | undefined {
  const [cheapest] = lanes
    .filter(({ stats }) => stats.completed > 0)
    .toSorted(
      (one, other) => one.stats.cost_usd / one.stats.completed - other.stats.cost_usd / other.stats.completed,
    )
  return cheapest?.id
}

/** By scores and by the judge. Without both, by the texts. */
function isDisputed(cells: readonly FilteredCell[]): boolean {
  const answered = cells.filter(({ status }) => status === 'completed')
  const scores = answered.flatMap(({ score }) => score ?? [])
  const margins = answered.flatMap(({ judge }) => marginOf(judge) ?? [])
  if (scores.length > 1 || margins.length > 1) return !areEqual(scores) || !areEqual(margins)
  return new Set(answered.map(({ output }) => output?.trim())).size > 1
}

function hasLost(cells: readonly FilteredCell[], laneId: string | undefined): boolean {
  const own = cells.find(({ lane_id: id }) => id === laneId)
  if (own === undefined) return false
  const others = cells.filter((cell) => cell !== own)
  if (own.status === 'failed') return others.some(({ status }) => status === 'completed')
  if (own.score !== null && others.some(({ score }) => score !== null && score > (own.score ?? 0)))
    return true
  return (marginOf(own.judge) ?? 0) < 0
}

/** Wins against losses by the judge. Null without a judge. */
function marginOf(judge: unknown): number | null {
  if (typeof judge !== 'object' || judge === null) return null
  const { wins, losses }: { wins?: unknown; losses?: unknown } = judge
  return typeof wins === 'number' && typeof losses === 'number' ? wins - losses : null
}

function areEqual(values: readonly number[]): boolean {
  return new Set(values).size < 2
}

/** The name of a prompt and its repeat, for what is kept by it. */
export function nameOfPrompt({ promptIndex, repeat }: NamedPrompt): string {
  return `${promptIndex}.${repeat}`
}

interface NamedPrompt {
  readonly promptIndex: number
  readonly repeat: number
}
