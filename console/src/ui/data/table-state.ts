import { useRouterState } from '@tanstack/react-router'
import { useEffect, useState } from 'react'

/** How a person has arranged a table. */
export interface TableState {
  readonly sort: { readonly column: string; readonly isDescending: boolean } | null
  /** The ids of the columns that are shown. Null: those of the table. */
  readonly columns: readonly string[] | null
}

const PLAIN: TableState = { sort: null, columns: null }
const PREFIX = 'table_'

/**
 * The arrangement of a table, which is in the address while the table is shown: `table_keys=-spent;name,state,spent`. Pages do not see it in
 * their search parameters, so that sorting neither counts as a filter nor loads anything again.
 */
export function useTableState(id: string): readonly [TableState, (state: TableState) => void] {
  const [state, setState] = useState(() => readState(id))
  const [path] = useState(() => location.pathname)
  useRouterState({ select: ({ location }) => location.href })
  // After each change of the address, which renders this again and which pages make without knowing of tables. The next page has tables of its own.
  useEffect(() => {
    if (location.pathname === path) writeState(id, state)
  })
  return [state, setState]
}

/** Takes the arrangements of tables out of the search parameters of an address. */
export function withoutTables(search: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(search).filter(([name]) => !name.startsWith(PREFIX)))
}

function readState(id: string): TableState {
  const text = new URLSearchParams(location.search).get(PREFIX + id)
  if (text === null) return PLAIN
  const [sort = '', columns = ''] = text.split(';')
  const isDescending = sort.startsWith('-')
  return {
    sort: sort === '' ? null : { column: isDescending ? sort.slice(1) : sort, isDescending },
    columns: columns === '' ? null : columns.split(','),
  }
}

function writeState(id: string, { sort, columns }: TableState): void {
  const address = new URL(location.href)
  const order = sort ? `${sort.isDescending ? '-' : ''}${sort.column}` : ''
  const text = columns ? `${order};${columns.join(',')}` : order
  if ((address.searchParams.get(PREFIX + id) ?? '') === text) return
  if (text === '') address.searchParams.delete(PREFIX + id)
  else address.searchParams.set(PREFIX + id, text)
  // Not by the method of the history that the router observes: nothing that it knows of changes.
  History.prototype.replaceState.call(window.history, window.history.state, '', address)
}
