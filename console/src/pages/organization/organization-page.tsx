import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { accountQuery } from '../../api/account.ts'
import { usePermissions, type Permission } from '../../api/permissions.ts'
import { BudgetList } from '../../organization/budget-list.tsx'
import { BudgetRequests } from '../../organization/budget-requests.tsx'
import { ProjectView } from '../../organization/project-view.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Tabs } from '../../ui/layout/tabs.tsx'
import { AgentSettingsTab } from './agent-settings/agent-settings-tab.tsx'
import { AuditTab } from './audit-tab.tsx'
import { DirectorySyncTab } from './directory-sync/directory-sync-tab.tsx'
import { GroupsTab } from './groups/groups-tab.tsx'
import { MembersTab } from './members-tab.tsx'
import { ProjectsTab } from './projects-tab.tsx'
import { RolesTab } from './roles-tab.tsx'
import { ORGANIZATION_TABS, type OrganizationTab } from './route.ts'

const route = getRouteApi('/shell/organization')

/** What a tab needs. Everybody sees the budgets that limit them, and may ask for more. */
const NEEDED: Readonly<Partial<Record<OrganizationTab, Permission>>> = {
  members: 'organization.read',
  groups: 'organization.read',
  roles: 'organization.read',
  projects: 'organization.read',
  directory: 'members.manage',
  agents: 'organization.read',
  audit: 'audit.read',
}

const TABS: Readonly<Record<OrganizationTab, () => React.ReactNode>> = {
  members: MembersTab,
  groups: GroupsTab,
  roles: RolesTab,
  projects: ProjectsTab,
  budgets: BudgetsTab,
  requests: RequestsTab,
  directory: DirectorySyncTab,
  agents: AgentSettingsTab,
  audit: AuditTab,
}

/** Who works in the account, and on what. In a project it is the page of that project. */
export function OrganizationPage() {
  const { tab: asked } = route.useSearch()
  const may = usePermissions()
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
  if (project) return <ProjectView id={project.id} />
  const tabs = ORGANIZATION_TABS.filter(({ value }) => {
    const needed = NEEDED[value]
    return needed === undefined || may(needed)
  })
  const tab = tabs.find(({ value }) => value === asked)?.value ?? tabs[0]?.value ?? 'budgets'
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
        tabs={tabs}
        onChange={(chosen) => void navigate({ search: { tab: chosen }, replace: true })}
      >
        <Tab />
      </Tabs>
    </Page>
  )
}

function BudgetsTab() {
  const may = usePermissions()
  return <BudgetList subject={null} canManage={may('budgets.manage')} />
}

function RequestsTab() {
  const may = usePermissions()
  return <BudgetRequests canDecide={may('budgets.manage')} />
}
