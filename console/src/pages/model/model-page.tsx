import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { MODEL_KINDS, type Model } from '../../api/model-kinds.ts'
import { modelQuery } from '../../api/models.ts'
import { CodeSamples } from '../../snippets/code-samples.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { buttonClass } from '../../ui/forms/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { exampleCalls } from './example-calls.ts'
import { ModelFacts } from './model-facts.tsx'
import { PriceTable } from './price-table.tsx'

const route = getRouteApi('/shell/models/$modelId')

export function ModelPage() {
  const { modelId } = route.useParams()
  const { data: model, error, isPending, refetch } = useQuery(modelQuery(modelId))
  return (
    <Page>
      <PageHeader
        title={model?.display_name ?? modelId}
        description={model && `${MODEL_KINDS[model.category]} by ${model.vendor}`}
        actions={model && <TryLink model={model} />}
      />
      {isPending && <SkeletonRows count={8} />}
      {error && (
        <ErrorPanel title="The model could not be loaded" error={error} onRetry={() => void refetch()} />
      )}
      {model && (
        <>
          <div className="grid gap-6 lg:grid-cols-2">
            <ModelFacts model={model} />
            <PriceTable price={model.price} />
          </div>
          {exampleCalls(model).map(({ title, call }) => (
            <Section key={title} title={title}>
              <CodeSamples call={call} />
            </Section>
          ))}
        </>
      )}
    </Page>
  )
}

function TryLink({ model }: { readonly model: Model }) {
  return (
    <Link to="/playground" search={{ model: model.id }} className={buttonClass('primary')}>
      <Icon name="play" />
      Try it
    </Link>
  )
}
