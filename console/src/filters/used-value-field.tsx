import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { filterValuesQuery, type FilterDimension } from '../api/filter-values.ts'
import { modelsQuery } from '../api/models.ts'
import { PickField, type PickOption } from '../ui/forms/pick-field.tsx'

export interface FilterFieldProps {
  readonly label: string
  readonly value: string
  /** Whether the values of all accounts are offered, for operators. */
  readonly isOfAll: boolean
  readonly onChange: (value: string) => void
  readonly className?: string | undefined
}

interface UsedValueFieldProps extends FilterFieldProps {
  readonly dimension: FilterDimension
}

/** A filter by a key, project or provider: those that were used lately are offered by name. */
export function UsedValueField({ dimension, isOfAll, value, ...field }: UsedValueFieldProps) {
  const [isOpen, setIsOpen] = useState(false)
  // Ids are shown by their names.
  const isNamed = value !== '' && (dimension === 'key' || dimension === 'project')
  const { data = [], isLoading } = useQuery({
    ...filterValuesQuery(dimension, isOfAll),
    enabled: isOpen || isNamed,
  })
  const options = data
    .filter((one) => one.value !== '')
    .map(({ value: id, name, accountName }): PickOption => ({
      value: id,
      label: name,
      note:
        [accountName, name === id ? null : id.slice(0, ID_SHOWN)].filter(Boolean).join(' · ') || undefined,
    }))
  return (
    <PickField
      {...field}
      value={value}
      valueLabel={options.find((option) => option.value === value)?.label}
      options={options}
      isLoading={isLoading}
      onOpen={() => setIsOpen(true)}
    />
  )
}

const ID_SHOWN = 8

/** A filter by a model: those that were used lately, then all others. */
export function ModelField({ isOfAll, ...field }: FilterFieldProps) {
  const [isOpen, setIsOpen] = useState(false)
  const used = useQuery({ ...filterValuesQuery('model', isOfAll), enabled: isOpen })
  const { data: models = [] } = useQuery({ ...modelsQuery, enabled: isOpen })
  const names = new Map(models.map(({ id, display_name: name }) => [id, name]))
  const ids = [...(used.data ?? []).map(({ value }) => value), ...names.keys()]
  const options = [...new Set(ids)]
    .filter((id) => id !== '')
    .map((id): PickOption => ({ value: id, label: id, note: names.get(id) }))
  return <PickField {...field} options={options} isLoading={used.isLoading} onOpen={() => setIsOpen(true)} />
}

const TAG = /^([a-z0-9_.-]{1,64})=/

/** A filter by a tag: once its name is written, the values that were used lately are offered. */
export function TagField({ isOfAll, ...field }: FilterFieldProps) {
  const [name, setName] = useState('')
  const { data = [], isLoading } = useQuery({
    ...filterValuesQuery(`tag:${name}`, isOfAll),
    enabled: name !== '',
  })
  const options = data
    .filter(({ value }) => name !== '' && value !== '')
    .map(({ value }): PickOption => ({ value: `${name}=${value}`, label: `${name}=${value}` }))
  return (
    <PickField
      {...field}
      options={options}
      isLoading={isLoading}
      onSearch={(words) => setName(TAG.exec(words)?.[1] ?? '')}
    />
  )
}
