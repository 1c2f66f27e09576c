import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { latestDeploymentsQuery } from '../../api/deployments.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { buttonClass } from '../../ui/forms/button.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { DeploymentState } from '../../ui/text/deployment-state.tsx'

export function LatestDeployments() {
  const { data, error, isPending, refetch } = useQuery(latestDeploymentsQuery)
  return (
    <Section
      title="Deployments"
      actions={
        <Link to="/deployments" className={buttonClass('quiet')}>
          All deployments
        </Link>
      }
    >
      {isPending && <SkeletonRows count={3} />}
      {error && (
        <ErrorPanel title="Deployments could not be loaded" error={error} onRetry={() => void refetch()} />
      )}
      {data?.data.length === 0 && (
        <p className="text-sm text-ink-soft">
          No deployments. A model of the hub can be deployed on GPUs and used like any other model.
        </p>
      )}
      <ul className="flex flex-col gap-3">
        {data?.data.map((deployment) => (
          <li key={deployment.id} className="flex items-center gap-3 text-sm">
            <Link
              to="/deployments/$id"
              params={{ id: deployment.id }}
              className="min-w-0 grow truncate hover:underline"
            >
              {deployment.name} <span className="text-ink-faint">{deployment.huggingface_id}</span>
            </Link>
            <span className="tabular text-xs whitespace-nowrap text-ink-faint">
              {formatUsd(deployment.hourly_cost)}/h
            </span>
            <DeploymentState status={deployment.status} />
          </li>
        ))}
      </ul>
    </Section>
  )
}
