export const TABS = [
  { value: 'results', label: 'Results' },
  { value: 'errors', label: 'Errors' },
  { value: 'details', label: 'Details' },
] as const

export interface BatchSearch {
  readonly tab?: (typeof TABS)[number]['value'] | undefined
}

export function readBatchSearch({ tab }: Record<string, unknown>): BatchSearch {
  return { tab: TABS.find(({ value }) => value === tab)?.value }
}
