import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback } from 'react'
import { modelsQuery } from '../../api/models.ts'
import { OwnDeprecations } from '../../deprecations/own-deprecations.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { filterModels } from './filter-models.ts'
import { ModelFilters } from './model-filters.tsx'
import type { ModelsSearch } from './models-search.ts'
import { ModelsTable } from './models-table.tsx'

const route = getRouteApi('/shell/models')

export function ModelsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data: models, error, isPending, refetch } = useQuery(modelsQuery)
  const setSearch = useCallback(
    (change: ModelsSearch) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true }),
    [navigate],
  )
  const clear = useCallback(() => void navigate({ search: {} }), [navigate])
  const found = filterModels(models ?? [], search)
  return (
    <Page isWide>
      <PageHeader title="Models" description="Everything that your key may use, with its price." />
      <OwnDeprecations />
      {models && (
        <ModelFilters
          models={models}
          search={search}
          foundCount={found.length}
          onChange={setSearch}
          onClear={clear}
        />
      )}
      {isPending && <SkeletonRows count={12} />}
      {error && (
        <ErrorPanel title="Models could not be loaded" error={error} onRetry={() => void refetch()} />
      )}
      {models && found.length === 0 && (
        <EmptyState
          icon="model"
          title="No model passes these filters"
          action={<Button onClick={clear}>Clear the filters</Button>}
        />
      )}
      {found.length > 0 && <ModelsTable models={found} />}
    </Page>
  )
}
