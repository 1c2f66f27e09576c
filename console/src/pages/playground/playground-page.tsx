import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useCallback } from 'react'
import { modelsQuery } from '../../api/models.ts'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { chooseModel } from './choose-model.ts'
import { ModelPicker } from './model-picker.tsx'
import type { PlaygroundSearch } from './playground-search.ts'

const route = getRouteApi('/shell/playground')

const ChatPanel = lazy(async () => ({ default: (await import('./chat/chat-panel.tsx')).ChatPanel }))
const KindPanel = lazy(async () => ({ default: (await import('./kinds/kind-panel.tsx')).KindPanel }))

/** Tries a model. Its parameters are in the address, so that a link opens the same form. */
export function PlaygroundPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data: models, error, refetch } = useQuery(modelsQuery)
  const setSearch = useCallback(
    (change: PlaygroundSearch) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true }),
    [navigate],
  )
  if (error)
    return (
      <Page>
        <ErrorPanel title="Models could not be loaded" error={error} onRetry={() => void refetch()} />
      </Page>
    )
  if (models === undefined)
    return (
      <Page>
        <SkeletonRows count={8} />
      </Page>
    )
  const model = chooseModel(models, search)
  const picker = <ModelPicker models={models} model={model} kind={search.kind} onChange={setSearch} />
  if (model === undefined)
    return (
      <Page>
        {picker}
        <EmptyState icon="model" title="There is no such model">
          Your key may use none of this kind. Choose another kind or model.
        </EmptyState>
      </Page>
    )
  return (
    <Suspense
      fallback={
        <Page>
          <SkeletonRows count={8} />
        </Page>
      }
    >
      {model.category === 'llm' ? (
        <ChatPanel model={model} models={models} search={search} onSearch={setSearch} picker={picker} />
      ) : (
        <KindPanel key={model.category} model={model} search={search} onSearch={setSearch} picker={picker} />
      )}
    </Suspense>
  )
}
