import { getRouteApi } from '@tanstack/react-router'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Tabs } from '../../ui/layout/tabs.tsx'
import { Arena } from './arena.tsx'
import { COMPARE_TABS, type CompareSearch } from './compare-search.ts'
import { Leaderboard } from './leaderboard.tsx'
import { RunAgain } from './run-again.tsx'
import { RunList } from './run-list.tsx'

const route = getRouteApi('/shell/compare')

export function ComparePage() {
  const { tab = 'arena', round, again, search, source } = route.useSearch()
  const navigate = route.useNavigate()
  const change = (changed: CompareSearch): void =>
    void navigate({ search: (old) => ({ ...old, ...changed }) })
  return (
    <Page>
      <PageHeader title="Compare" description="The same prompts for several models, side by side." />
      <Tabs
        label="Ways to compare"
        value={tab}
        tabs={COMPARE_TABS}
        onChange={(chosen) => change({ tab: chosen })}
      >
        {tab === 'arena' && <Arena roundId={round} onRound={(id) => change({ round: id })} />}
        {tab === 'runs' && (
          <RunList
            search={search ?? ''}
            onSearch={(text) => change({ search: text === '' ? undefined : text })}
          />
        )}
        {tab === 'runs' && again !== undefined && (
          <RunAgain id={again} onClose={() => change({ again: undefined })} />
        )}
        {tab === 'leaderboard' && (
          <Leaderboard source={source} onSource={(chosen) => change({ source: chosen })} />
        )}
      </Tabs>
    </Page>
  )
}
