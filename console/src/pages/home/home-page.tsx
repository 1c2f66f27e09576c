import { useQuery } from '@tanstack/react-query'
import { accountQuery } from '../../api/account.ts'
import { useHasScope } from '../../api/key-rights.ts'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Connect } from './connect.tsx'
import { LatestDeployments } from './latest-deployments.tsx'
import { LatestTasks } from './latest-tasks.tsx'
import { TodayFigures } from './today-figures.tsx'

export function HomePage() {
  const { data: account } = useQuery(accountQuery)
  const mayInfer = useHasScope('inference')
  return (
    <Page>
      <PageHeader title="Home" description={account && `${account.name}, today in UTC`} />
      <TodayFigures />
      {mayInfer !== false && (
        <div className="grid gap-6 lg:grid-cols-2">
          <LatestTasks />
          <LatestDeployments />
        </div>
      )}
      <Connect />
    </Page>
  )
}
