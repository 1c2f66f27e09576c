import { formatCountOf } from '../../ui/format/format-count.ts'
import { SearchField } from '../../ui/forms/search-field.tsx'
import { SegmentedControl } from '../../ui/forms/segmented-control.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { FilterBar } from '../../ui/layout/filter-bar.tsx'
import { STATUSES, TYPE_LABELS, readTasksSearch, type TasksSearch } from './tasks-search.ts'

interface TasksFiltersProps {
  readonly search: TasksSearch
  readonly onChange: (changed: Partial<TasksSearch>) => void
  readonly total: number | undefined
}

const STATUS_CHOICES = [
  { value: '', label: 'Any state' },
  ...STATUSES.map((status) => ({ value: status, label: sentence(status) })),
]
const TYPE_CHOICES = [
  { value: '', label: 'Any type' },
  ...Object.entries(TYPE_LABELS).map(([value, label]) => ({ value, label })),
]
const VIEWS = [
  { value: 'gallery', label: 'Gallery' },
  { value: 'list', label: 'List' },
] as const

export function TasksFilters({ search, onChange, total }: TasksFiltersProps) {
  const { view, status, type, model } = search
  const isFiltered = status !== undefined || type !== undefined || model !== undefined
  return (
    <FilterBar
      count={total === undefined ? undefined : formatCountOf(total, 'task')}
      onClear={
        isFiltered ? () => onChange({ status: undefined, type: undefined, model: undefined }) : undefined
      }
    >
      <SegmentedControl
        label="View"
        value={view ?? 'gallery'}
        choices={VIEWS}
        onChange={(chosen) => onChange({ view: chosen === 'list' ? chosen : undefined })}
      />
      <SelectField
        label="State"
        isLabelHidden
        value={status ?? ''}
        choices={STATUS_CHOICES}
        onChange={(chosen) => onChange(readOne('status', chosen))}
        className="w-36 max-sm:grow"
      />
      <SelectField
        label="Type"
        isLabelHidden
        value={type ?? ''}
        choices={TYPE_CHOICES}
        onChange={(chosen) => onChange(readOne('type', chosen))}
        className="w-44 max-sm:grow"
      />
      <SearchField
        label="Model id"
        value={model ?? ''}
        onChange={(chosen) => onChange(readOne('model', chosen))}
        className="w-48 max-sm:grow"
      />
    </FilterBar>
  )
}

function readOne(name: 'status' | 'type' | 'model', value: string): Partial<TasksSearch> {
  return { [name]: readTasksSearch({ [name]: value })[name] }
}

function sentence(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}
