import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { accountQuery } from '../../api/account.ts'
import { BudgetList } from '../../organization/budget-list.tsx'
import { BudgetRequests } from '../../organization/budget-requests.tsx'
import { ProjectView } from '../../organization/project-view.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Tabs } from '../../ui/layout/tabs.tsx'
import { AuditTab } from './audit-tab.tsx'
import { GroupsTab } from './groups-tab.tsx'
import { MembersTab } from './members-tab.tsx'
import { ProjectsTab } from './projects-tab.tsx'
import { ORGANIZATION_TABS, type OrganizationTab } from './route.ts'

const route = getRouteApi('/shell/organization')

const TABS: Readonly<Record<OrganizationTab, () => React.ReactNode>> = {
  members: MembersTab,
  groups: GroupsTab,
  projects: ProjectsTab,
  budgets: () => <BudgetList subject={null} canManage />,
  requests: () => <BudgetRequests canDecide />,
  audit: AuditTab,
}

/** Who works in the account, and on what. In a project it is the page of that project. */
export function OrganizationPage() {
  const { tab = 'members' } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: account } = useQuery(accountQuery)
  if (account === undefined)
    return (
      <Page>
        <PageHeader title="Organization" />
        <SkeletonRows />
      </Page>
    )
  const project = account.session?.project
  // Everybody sees the budgets that limit them, and may ask for more.
  if (!account.key.scopes.includes('manage')) return <OwnBudgets />
  if (project) return <ProjectView id={project.id} />
  const Tab = TABS[tab]
  return (
    <Page>
      <PageHeader
        title="Organization"
        description="The people of this account, and the projects that share its credit."
      />
      <Tabs
        label="Parts of the organization"
        value={tab}
        tabs={ORGANIZATION_TABS}
        onChange={(chosen) => void navigate({ search: { tab: chosen }, replace: true })}
      >
        <Tab />
      </Tabs>
    </Page>
  )
}

function OwnBudgets() {
  return (
    <Page>
      <PageHeader title="Budgets" description="What limits your spending, and what you asked for." />
      <BudgetList subject={null} canManage={false} />
      <section aria-labelledby="asked" className="flex flex-col gap-3">
        <h2 id="asked" className="text-sm font-semibold">
          Your requests for more
        </h2>
        <BudgetRequests canDecide={false} />
      </section>
    </Page>
  )
}
