import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { oneAccountQuery } from '../api/accounts.ts'
import { foundAccountsQuery } from '../api/filter-values.ts'
import { PickField } from '../ui/forms/pick-field.tsx'
import type { FilterFieldProps } from './used-value-field.tsx'

/** A filter by an account, which is found by a part of its name, its id or the beginning of a key. */
export function AccountField({ value, ...field }: Omit<FilterFieldProps, 'isOfAll'>) {
  /** Null until the field is used. */
  const [words, setWords] = useState<string | null>(null)
  const { data = [], isLoading } = useQuery({
    ...foundAccountsQuery(words ?? ''),
    enabled: words !== null,
    placeholderData: keepPreviousData,
  })
  const { data: chosen } = useQuery({ ...oneAccountQuery(value), enabled: value !== '' })
  return (
    <PickField
      {...field}
      value={value}
      valueLabel={value === '' ? undefined : chosen?.name}
      options={data.map(({ id, name }) => ({ value: id, label: name, note: id.slice(0, 8) }))}
      isLoading={isLoading}
      onOpen={() => setWords('')}
      onSearch={setWords}
    />
  )
}
