import { useMemo } from 'react'
import { useAddressText } from './use-address-text.ts'

/** How a person has arranged a table. */
export interface TableState {
  readonly sort: { readonly column: string; readonly isDescending: boolean } | null
  /** The ids of the columns that are shown. Null: those of the table. */
  readonly columns: readonly string[] | null
}

/** The arrangement of a table, which is in the address while the table is shown: `table_keys=-spent;name,state,spent`. */
export function useTableState(id: string): readonly [TableState, (state: TableState) => void] {
  const [text, setText] = useAddressText(`table_${id}`)
  const state = useMemo(() => readState(text), [text])
  return [state, (next) => setText(writeState(next))]
}

function readState(text: string): TableState {
  const [sort = '', columns = ''] = text.split(';')
  const isDescending = sort.startsWith('-')
  return {
    sort: sort === '' ? null : { column: isDescending ? sort.slice(1) : sort, isDescending },
    columns: columns === '' ? null : columns.split(','),
  }
}

function writeState({ sort, columns }: TableState): string {
  const order = sort ? `${sort.isDescending ? '-' : ''}${sort.column}` : ''
  return columns ? `${order};${columns.join(',')}` : order
}
