import type { OperatorAuditFilters } from '../../api/operator-audit.ts'

export interface AuditSearch extends OperatorAuditFilters {
  /** The id of the entry that is open. */
  readonly entry?: string | undefined
}

const NAMES = ['target', 'account', 'actor', 'action', 'search', 'since', 'until'] as const

export function readAuditSearch(search: Record<string, unknown>): AuditSearch {
  const given = [...NAMES, 'entry'].flatMap((name) => {
    const value = search[name]
    const isWanted = typeof value === 'string' && value !== '' && (!DAYS.has(name) || isDay(value))
    return isWanted ? [[name, value]] : []
  })
  return Object.fromEntries(given)
}

const DAYS: ReadonlySet<string> = new Set(['since', 'until'])

function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))
}

export function filtersOf(search: AuditSearch): OperatorAuditFilters {
  const { entry: _, ...filters } = search
  return filters
}
