export const COMPARE_TABS = [
  { value: 'arena', label: 'Arena' },
  { value: 'runs', label: 'Runs' },
  { value: 'leaderboard', label: 'Leaderboard' },
] as const

type CompareTab = (typeof COMPARE_TABS)[number]['value']

export interface CompareSearch {
  readonly tab?: CompareTab | undefined
  /** The run of the present round of the arena. */
  readonly round?: string | undefined
  /** The run that is asked again. */
  readonly again?: string | undefined
  /** Part of the name of runs, or of their models. */
  readonly search?: string | undefined
  /** Whose votes the leaderboard counts. */
  readonly source?: 'human' | 'judge' | undefined
}

export function readCompareSearch({
  tab,
  round,
  again,
  search,
  source,
}: Record<string, unknown>): CompareSearch {
  return {
    tab: COMPARE_TABS.find(({ value }) => value === tab)?.value,
    round: typeof round === 'string' ? round : undefined,
    again: typeof again === 'string' ? again : undefined,
    search: typeof search === 'string' && search !== '' ? search : undefined,
    source: source === 'human' || source === 'judge' ? source : undefined,
  }
}
