import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { accountQuery } from '../../api/account.ts'
import { useHasScope } from '../../api/key-rights.ts'
import { usageTodayQuery } from '../../api/usage.ts'
import { Skeleton } from '../../ui/feedback/skeleton.tsx'
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
  const mayInfer = useHasScope('inference')
  return (
    <Page>
      <PageHeader title="Home" description={account && `${account.name}, today in UTC`} />
      {deprecated.length > 0 && (
        <Suspense>
          <OwnDeprecationNotice models={deprecated} />
        </Suspense>
      )}
      <TodayFigures />
      {mayInfer !== false && (
        <div className="grid gap-6 lg:grid-cols-2">
          <LatestTasks />
          <LatestDeployments />
        </div>
      )}
      <Suspense fallback={<Skeleton className="h-80 w-full" />}>
        <Connect />
      </Suspense>
    </Page>
  )
}
