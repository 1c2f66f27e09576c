import { useQuery } from '@tanstack/react-query'
import { latestDeploymentsQuery } from '../../api/deployments.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Section } from '../../ui/layout/section.tsx'
import { Badge, type Tone } from '../../ui/text/badge.tsx'

const TONES: Readonly<Record<string, Tone>> = { running: 'good', failed: 'bad', stopped: 'plain' }

export function LatestDeployments() {
  const { data, error, isPending, refetch } = useQuery(latestDeploymentsQuery)
  return (
    <Section title="Deployments">
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
            <span className="min-w-0 grow truncate">
              {deployment.name} <span className="text-ink-faint">{deployment.huggingface_id}</span>
            </span>
            <span className="tabular text-xs whitespace-nowrap text-ink-faint">
              {formatUsd(deployment.hourly_cost)}/h
            </span>
            <Badge tone={TONES[deployment.status] ?? 'accent'}>{deployment.status}</Badge>
          </li>
        ))}
      </ul>
    </Section>
  )
}
