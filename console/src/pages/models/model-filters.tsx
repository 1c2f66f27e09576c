import { useCallback } from 'react'
import { MODEL_KINDS, type Model } from '../../api/model-kinds.ts'
import { formatCountOf } from '../../ui/format/format-count.ts'
import { SearchField } from '../../ui/forms/search-field.tsx'
import { SelectField, type Choice } from '../../ui/forms/select-field.tsx'
import { FilterBar } from '../../ui/layout/filter-bar.tsx'
import type { ModelsSearch } from './models-search.ts'

interface ModelFiltersProps {
  readonly models: readonly Model[]
  readonly search: ModelsSearch
  readonly foundCount: number
  readonly onChange: (change: ModelsSearch) => void
  readonly onClear: () => void
}

export function ModelFilters({ models, search, foundCount, onChange, onClear }: ModelFiltersProps) {
  const setText = useCallback((text: string) => onChange({ text: text || undefined }), [onChange])
  const kinds = [...new Set(models.map(({ category }) => category))]
  return (
    <FilterBar
      onClear={Object.keys(search).length > 0 ? onClear : undefined}
      count={`${foundCount} of ${formatCountOf(models.length, 'model')}`}
    >
      <SearchField
        label="Search models"
        value={search.text ?? ''}
        onChange={setText}
        className="w-full sm:w-64"
      />
      <SelectField
        label="Kind"
        isLabelHidden
        value={search.kind ?? ''}
        choices={[
          { value: '', label: 'All kinds' },
          ...kinds.map((kind) => ({ value: kind, label: MODEL_KINDS[kind] })),
        ]}
        onChange={(kind) => onChange({ kind: kind || undefined })}
        className="max-sm:grow"
      />
      <SelectField
        label="Vendor"
        isLabelHidden
        value={search.vendor ?? ''}
        choices={allOr(
          'All vendors',
          models.map(({ vendor }) => vendor),
        )}
        onChange={(vendor) => onChange({ vendor: vendor || undefined })}
        className="max-sm:grow"
      />
      <SelectField
        label="Capability"
        isLabelHidden
        value={search.capability ?? ''}
        choices={allOr(
          'All capabilities',
          models.flatMap(({ capabilities }) => capabilities),
        )}
        onChange={(capability) => onChange({ capability: capability || undefined })}
        className="max-sm:grow"
      />
      <label className="flex h-8 items-center gap-2 text-sm text-ink-soft">
        <input
          type="checkbox"
          checked={search.ready === true}
          onChange={({ target }) => onChange({ ready: target.checked || undefined })}
          className="size-4 accent-accent"
        />
        Ready now
      </label>
    </FilterBar>
  )
}

function allOr(label: string, values: readonly string[]): Choice[] {
  const sorted = [...new Set(values)].sort()
  return [{ value: '', label }, ...sorted.map((value) => ({ value, label: value.replaceAll('_', ' ') }))]
}
