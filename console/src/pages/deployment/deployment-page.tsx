import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Permitted } from '../../ui/permitted.tsx'
import { deploymentQuery, isMoving, type Deployment } from '../../api/deployment.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { ProgressBar } from '../../ui/feedback/progress-bar.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Tabs } from '../../ui/layout/tabs.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { DeploymentState } from '../../ui/text/deployment-state.tsx'
import { BurnFigures } from './burn-figures.tsx'
import { DeploymentActions } from './deployment-actions.tsx'
import { DeploymentChat } from './deployment-chat.tsx'
import { TABS, type DeploymentSearch } from './deployment-search.ts'
import { EngineLog } from './engine-log.tsx'
import { EventTimeline } from './event-timeline.tsx'
import { MetricsView } from './metrics-view.tsx'

const route = getRouteApi('/shell/deployments/$id')

export function DeploymentPage() {
  const { id } = route.useParams()
  const { data: deployment, error, isPending, refetch } = useQuery(deploymentQuery(id))
  return (
    <Page>
      {isPending && <SkeletonRows />}
      {error && !deployment && (
        <>
          <PageHeader title="Deployment" />
          <ErrorPanel
            title="The deployment could not be loaded"
            error={error}
            onRetry={() => void refetch()}
          />
        </>
      )}
      {deployment && <Loaded deployment={deployment} />}
    </Page>
  )
}

function Loaded({ deployment }: { readonly deployment: Deployment }) {
  const { tab = 'chat', window = '1h' } = route.useSearch()
  const navigate = route.useNavigate()
  const change = (changed: DeploymentSearch): void =>
    void navigate({ search: (old) => ({ ...old, ...changed }), replace: true })
  const { id, status } = deployment
  return (
    <>
      <PageHeader
        title={deployment.name}
        description={
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <DeploymentState status={status} />
            <span>{deployment.huggingface_id}</span>
            <span>{deployment.gpu_tier}</span>
            <CopyableId id={deployment.model_id} label="model id" />
          </span>
        }
        actions={
          <Permitted permission="deployments.manage">
            <DeploymentActions deployment={deployment} />
          </Permitted>
        }
      />
      {isMoving(deployment) && (
        <ProgressBar
          label={`It is ${status}${deployment.eta_minutes === null ? '' : `, about ${deployment.eta_minutes} min until it runs`}`}
          percent={status === 'starting' ? deployment.progress : null}
        />
      )}
      {deployment.error_message !== null && (
        <div role="alert" className="rounded-lg border border-line bg-bad-soft px-4 py-3 text-sm">
          <p className="break-words whitespace-pre-wrap">{deployment.error_message}</p>
          <p className="mt-1 font-mono text-xs text-ink-soft">{deployment.error_code}</p>
        </div>
      )}
      <BurnFigures deployment={deployment} />
      <Tabs
        label="Parts of the deployment"
        value={tab}
        tabs={TABS}
        onChange={(chosen) => change({ tab: chosen })}
      >
        {tab === 'chat' && <DeploymentChat deployment={deployment} />}
        {tab === 'history' && <EventTimeline id={id} status={status} />}
        {tab === 'metrics' && (
          <MetricsView id={id} window={window} onWindow={(chosen) => change({ window: chosen })} />
        )}
        {tab === 'logs' && <EngineLog id={id} status={status} />}
      </Tabs>
    </>
  )
}
