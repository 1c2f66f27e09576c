import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { Permitted } from '../../ui/permitted.tsx'
import { MODEL_KINDS } from '../../api/model-kinds.ts'
import { modelSettingsQuery, type ConfiguredModel } from '../../api/model-settings.ts'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatPrice } from '../../ui/format/format-price.ts'
import { Button } from '../../ui/forms/button.tsx'
import { SearchField } from '../../ui/forms/search-field.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { FilterBar } from '../../ui/layout/filter-bar.tsx'
import { AS_DETAIL, useCloseDetail } from '../../ui/overlays/use-detail-history.ts'
import { Badge } from '../../ui/text/badge.tsx'
import { RowLink } from '../../ui/text/row-link.tsx'
import { ModelDialog } from './form/model-dialog.tsx'
import { ModelSheet } from './model-sheet.tsx'

const route = getRouteApi('/shell/model-settings')

/** The models of the files and those that were added here. */
export function ModelsTab() {
  const { text = '', own = false, model: openedId } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: models, error, isPending, refetch } = useQuery(modelSettingsQuery)
  const [isAdding, setIsAdding] = useState(false)
  const shown = (models ?? []).filter((model) => isShown(model, text, own))
  const opened = models?.find(({ id }) => id === openedId)
  const open = ({ id }: ConfiguredModel): void =>
    void navigate({ search: (old) => ({ ...old, model: id }), ...AS_DETAIL })
  const close = useCloseDetail(
    () => void navigate({ search: (old) => ({ ...old, model: undefined }), replace: true }),
  )
  const add = (
    <Permitted permission="gateway.manage">
      <Button kind="primary" icon="plus" onClick={() => setIsAdding(true)}>
        Add a model
      </Button>
    </Permitted>
  )
  return (
    <div className="flex flex-col gap-4">
      <FilterBar count={models && `${shown.length} of ${models.length} models`}>
        <SearchField
          label="Name, vendor or provider"
          className="w-64 max-sm:w-full"
          value={text}
          onChange={(words) =>
            void navigate({
              search: (old) => ({ ...old, text: words === '' ? undefined : words }),
              replace: true,
            })
          }
        />
        <SelectField
          label="Origin"
          isLabelHidden
          value={own ? 'own' : 'all'}
          choices={[
            { value: 'all', label: 'All models' },
            { value: 'own', label: 'Models added here' },
          ]}
          onChange={(which) =>
            void navigate({
              search: (old) => ({ ...old, own: which === 'own' ? true : undefined }),
              replace: true,
            })
          }
        />
        {add}
      </FilterBar>
      {isPending && <SkeletonRows />}
      {error && (
        <ErrorPanel title="Models could not be loaded" error={error} onRetry={() => void refetch()} />
      )}
      {models && shown.length === 0 && (
        <EmptyState
          icon="model"
          title={own ? 'No model was added here yet' : 'No model matches'}
          action={add}
        >
          A model has a name for clients, a price, and the providers that serve it.
        </EmptyState>
      )}
      {shown.length > 0 && (
        <DataTable
          label="Models"
          tools={{ id: 'models' }}
          columns={columnsOf(open)}
          rows={shown}
          rowId={({ id }) => id}
          onOpen={open}
        />
      )}
      {isAdding && <ModelDialog model={null} onClose={() => setIsAdding(false)} />}
      {opened && <ModelSheet model={opened} onClose={close} />}
    </div>
  )
}

function isShown(model: ConfiguredModel, text: string, own: boolean): boolean {
  if (own && model.source !== 'database') return false
  const words = `${model.id} ${model.name} ${model.vendor} ${model.aliases?.join(' ') ?? ''} ${model.routes
    .map(({ provider }) => provider)
    .join(' ')}`.toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => words.includes(word))
}

function columnsOf(onOpen: (model: ConfiguredModel) => void): Column<ConfiguredModel>[] {
  return [
    {
      id: 'model',
      header: 'Model',
      value: ({ id }) => id,
      render: (model) => <RowLink onOpen={() => onOpen(model)}>{model.id}</RowLink>,
    },
    {
      id: 'origin',
      header: 'Origin',
      value: ({ source }) => (source === 'file' ? 'from the file' : 'added here'),
      width: '128px',
      render: ({ source }) =>
        source === 'file' ? <Badge>from the file</Badge> : <Badge tone="accent">added here</Badge>,
    },
    {
      id: 'kind',
      header: 'Kind',
      value: ({ category }) => MODEL_KINDS[category],
      width: '128px',
      isMinor: true,
      render: ({ category }) => MODEL_KINDS[category],
    },
    {
      id: 'providers',
      header: 'Providers',
      value: ({ routes }) => providersOf(routes),
      width: '18%',
      isMinor: true,
      render: ({ routes }) => providersOf(routes),
    },
    { id: 'price', header: 'Price', value: formatPrice, width: '26%', isMinor: true, render: formatPrice },
    {
      id: 'life',
      header: 'State',
      value: (model) => lifeOf(model),
      width: '112px',
      render: (model) => <Badge tone={LIFE_TONES[lifeOf(model)]}>{lifeOf(model)}</Badge>,
    },
  ]
}

/** Where in its life a model is. Most are simply there. */
function lifeOf(model: ConfiguredModel): keyof typeof LIFE_TONES {
  const end = model.shutdown_at ?? model.retires
  if (hasPassed(end)) return 'ended'
  if (hasPassed(model.deprecated_from)) return 'deprecated'
  if (model.available_from !== undefined && !hasPassed(model.available_from)) return 'not yet served'
  return end === undefined ? 'served' : 'will end'
}

const LIFE_TONES = {
  ended: 'bad',
  deprecated: 'warn',
  'not yet served': 'plain',
  served: 'good',
  'will end': 'plain',
} as const

function providersOf(routes: ConfiguredModel['routes']): string {
  return [...new Set(routes.map(({ provider }) => provider))].join(', ')
}

function hasPassed(at: string | undefined): boolean {
  return at !== undefined && Date.parse(at) <= Date.now()
}
