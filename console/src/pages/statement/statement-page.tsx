import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { statementFileUrl, statementQuery, type Statement } from '../../api/statements.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatMonth } from '../../ui/format/format-time.ts'
import { Button, buttonClass } from '../../ui/forms/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { Tabs } from '../../ui/layout/tabs.tsx'
import { BalanceTable } from './balance-table.tsx'
import { ChargeTable } from './charge-table.tsx'
import { MovementTable } from './movement-table.tsx'
import type { StatementGroup } from './route.ts'

const route = getRouteApi('/shell/billing/statements/$month')

const TABS = [
  { value: 'model', label: 'By model' },
  { value: 'project', label: 'By project' },
  { value: 'key', label: 'By key' },
  { value: 'day', label: 'By day (UTC)' },
  { value: 'movements', label: 'Movements' },
] as const

/** One month of the account, or what a project was charged in it. */
export function StatementPage() {
  const { month } = route.useParams()
  const { by = 'model', project_id: projectId } = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, refetch } = useQuery(statementQuery(month, projectId))
  return (
    <Page>
      <PageHeader
        title={`Statement of ${formatMonth(month)}`}
        description={data ? describeState(data) : 'A month of UTC'}
        actions={
          <>
            <Link to="/billing/statements" className={buttonClass('quiet')}>
              All months
            </Link>
            {data &&
              (['pdf', 'csv'] as const).map((format) => (
                <a key={format} href={statementFileUrl(data, format)} download className={buttonClass()}>
                  <Icon name="download" />
                  {format.toUpperCase()}
                </a>
              ))}
          </>
        }
      />
      {error && (
        <ErrorPanel title="The statement could not be loaded" error={error} onRetry={() => void refetch()} />
      )}
      {!data && !error && <SkeletonRows />}
      {data && (
        <>
          {projectId !== undefined && data.project && (
            <p role="status" className="flex items-center gap-3 text-sm">
              <span>Only what the project {data.project.name} was charged.</span>
              <Button kind="quiet" onClick={() => void navigate({ search: { by }, replace: true })}>
                Show the account
              </Button>
            </p>
          )}
          <Section title={data.balance ? 'Balance' : 'Sum'}>
            <BalanceTable statement={data} />
          </Section>
          <Tabs
            label="Charges and movements"
            value={by}
            tabs={data.movements === null ? TABS.filter(({ value }) => value !== 'movements') : TABS}
            onChange={(chosen) => void navigate({ search: (old) => ({ ...old, by: chosen }), replace: true })}
          >
            <Lines
              statement={data}
              by={by}
              onProject={(id) => void navigate({ search: { by: 'model', project_id: id } })}
            />
          </Tabs>
        </>
      )}
    </Page>
  )
}

interface LinesProps {
  readonly statement: Statement
  readonly by: StatementGroup
  readonly onProject: (id: string) => void
}

function Lines({ statement, by, onProject }: LinesProps) {
  if (by === 'movements') return <MovementTable statement={statement} />
  return (
    <ChargeTable
      by={by}
      lines={statement.charges[`by_${by}`]}
      totalUsd={statement.charged.usd}
      onProject={statement.project === null ? onProject : undefined}
    />
  )
}

function describeState({ number, status, account, project }: Statement): string {
  const state = number ?? (status === 'open' ? 'Not closed yet: amounts may change' : 'Closed, nothing moved')
  return `${state}. ${account.name}${project ? `, project ${project.name}` : ''}. A month of UTC, in US dollars.`
}
