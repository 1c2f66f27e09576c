import { Link } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { accountQuery } from '../../api/account.ts'
import { useMay } from '../../api/permissions.ts'
import { usageTodayQuery } from '../../api/usage.ts'
import { classNames } from '../../ui/class-names.ts'
import { Skeleton } from '../../ui/feedback/skeleton.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { LatestDeployments } from './latest-deployments.tsx'
import { LatestTasks } from './latest-tasks.tsx'
import { TodayFigures } from './today-figures.tsx'

// The first page shows its figures before these are loaded.
const Connect = lazy(async () => ({ default: (await import('./connect.tsx')).Connect }))
const OwnDeprecationNotice = lazy(async () => ({
  default: (await import('../../deprecations/deprecation-notice.tsx')).OwnDeprecationNotice,
}))

export function HomePage() {
  const { data: account } = useQuery(accountQuery)
  const { data: today } = useQuery(usageTodayQuery)
  const deprecated = today?.deprecated_models ?? []
  const seesTasks = useMay('models.use') !== false
  const seesDeployments = useMay('deployments.read') !== false
  return (
    <Page>
      <PageHeader title="Home" description={account && `${account.name}, today in UTC`} />
      {deprecated.length > 0 && (
        <Suspense>
          <OwnDeprecationNotice models={deprecated} />
        </Suspense>
      )}
      {today?.anomaly && (
        <p role="status" className="flex items-start gap-2 rounded-md bg-warn-soft px-3 py-2 text-sm">
          <Icon name="warn" className="mt-0.5 text-warn" />
          <span>
            {today.anomaly.summary}{' '}
            <Link to="/usage" className="text-accent underline">
              See the usage
            </Link>
          </span>
        </p>
      )}
      <TodayFigures />
      {(seesTasks || seesDeployments) && (
        <div className={classNames('grid gap-6', seesTasks && seesDeployments && 'lg:grid-cols-2')}>
          {seesTasks && <LatestTasks />}
          {seesDeployments && <LatestDeployments />}
        </div>
      )}
      <Suspense fallback={<Skeleton className="h-80 w-full" />}>
        <Connect />
      </Suspense>
    </Page>
  )
}
