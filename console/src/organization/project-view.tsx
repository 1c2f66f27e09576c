import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { accountQuery } from '../api/account.ts'
import { describeFailure } from '../api/api-error.ts'
import { usePermissions } from '../api/permissions.ts'
import { archiveProject, projectQuery, renameProject } from '../api/projects.ts'
import { moveToProject } from '../api/sessions.ts'
import { useAddressText } from '../ui/data/table/use-address-text.ts'
import { ErrorPanel } from '../ui/feedback/error-panel.tsx'
import { Button } from '../ui/forms/button.tsx'
import { TextField } from '../ui/forms/text-field.tsx'
import { Page } from '../ui/layout/page.tsx'
import { PageHeader } from '../ui/layout/page-header.tsx'
import { Tabs } from '../ui/layout/tabs.tsx'
import { ConfirmDialog } from '../ui/overlays/confirm-dialog.tsx'
import { FormDialog } from '../ui/overlays/form-dialog.tsx'
import { showFailure } from '../ui/overlays/toasts.tsx'
import { Badge } from '../ui/text/badge.tsx'
import { CopyableId } from '../ui/text/copyable-id.tsx'
import { ProjectBudgets } from './project-budgets.tsx'
import { ProjectGroups } from './project-groups.tsx'
import { ProjectKeys } from './project-keys.tsx'
import { ProjectLimits } from './project-limits.tsx'
import { ProjectModels } from './project-models.tsx'
import { ProjectPeople } from './project-people.tsx'
import { ProjectUsage } from './project-usage.tsx'
import { ServiceAccounts } from './service-accounts.tsx'
import { TrustedIssuers } from './trusted-issuers/trusted-issuers.tsx'

const TABS = [
  { value: 'people', label: 'Members', Part: ProjectPeople },
  { value: 'groups', label: 'Groups', Part: ProjectGroups },
  { value: 'service-accounts', label: 'Service accounts', Part: ServiceAccounts },
  { value: 'trusted-issuers', label: 'Trusted issuers', Part: TrustedIssuers },
  { value: 'keys', label: 'Keys', Part: ProjectKeys },
  { value: 'usage', label: 'Usage', Part: ProjectUsage },
  { value: 'models', label: 'Models', Part: ProjectModels },
  { value: 'limits', label: 'Limits', Part: ProjectLimits },
  { value: 'budgets', label: 'Budgets', Part: ProjectBudgets },
] as const

/** Everything of one project. */
export function ProjectView({ id }: { readonly id: string }) {
  const project = useQuery(projectQuery(id))
  const { data: account } = useQuery(accountQuery)
  const [asked, setAsked] = useAddressText('view_project')
  const [opened, setOpened] = useState<'rename' | 'archive' | null>(null)
  const close = (): void => setOpened(null)
  const { data } = project
  const isActive = data?.status === 'active'
  const may = usePermissions()
  const isDefault = account !== undefined && id === `proj_${account.id.replaceAll('-', '')}`
  const isHere = account?.session?.project?.id === data?.id
  const { Part, value: tab } = TABS.find(({ value }) => value === asked) ?? TABS[0]
  if (project.error)
    return (
      <Page>
        <PageHeader title="Project" />
        <ErrorPanel
          title={
            describeFailure(project.error).status === 404
              ? 'This account has no such project'
              : 'The project could not be loaded'
          }
          error={project.error}
          onRetry={() => void project.refetch()}
        />
      </Page>
    )
  return (
    <Page>
      <PageHeader
        title={data?.name ?? 'Project'}
        description={
          <span className="flex flex-wrap items-center gap-2">
            <CopyableId id={id} label="project id" />
            {data && !isActive && <Badge tone="warn">archived</Badge>}
          </span>
        }
        actions={
          isActive && (
            <>
              {!isDefault && may('projects.manage') && (
                <Button kind="danger" onClick={() => setOpened('archive')}>
                  Archive
                </Button>
              )}
              {may('projects.manage') && <Button onClick={() => setOpened('rename')}>Rename</Button>}
              {!isHere && account?.session?.has_projects && (
                <Button
                  kind="primary"
                  icon="folder"
                  onClick={() => {
                    moveToProject(id, '/').catch((error: unknown) =>
                      showFailure('The project could not be entered', error),
                    )
                  }}
                >
                  Work in it
                </Button>
              )}
            </>
          )
        }
      />
      <Tabs label="Parts of the project" value={tab} tabs={TABS} onChange={setAsked}>
        <Part id={id} isActive={isActive} isOfAccount={account?.session?.project === null} />
      </Tabs>
      {opened === 'rename' && data && <RenameDialog id={id} name={data.name} onClose={close} />}
      {opened === 'archive' && data && <ArchiveDialog id={id} name={data.name} onClose={close} />}
    </Page>
  )
}

interface ProjectDialogProps {
  readonly id: string
  readonly name: string
  readonly onClose: () => void
}

function RenameDialog({ id, name: before, onClose }: ProjectDialogProps) {
  const queryClient = useQueryClient()
  const [name, setName] = useState(before)
  const renaming = useMutation({
    mutationFn: () => renameProject(id, name.trim()),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['projects'] })
      await queryClient.invalidateQueries({ queryKey: ['account'] })
      onClose()
    },
  })
  return (
    <FormDialog
      title="Rename the project"
      action="Rename"
      work={renaming}
      failure="The project could not be renamed"
      isIncomplete={name.trim() === ''}
      onClose={onClose}
    >
      <TextField label="Name" required autoFocus maxLength={200} value={name} onChange={setName} />
    </FormDialog>
  )
}

function ArchiveDialog({ id, name, onClose }: ProjectDialogProps) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  return (
    <ConfirmDialog
      title={`Archive ${name}?`}
      description="All of its keys end at once and for good, and streams in progress too. Its history stays. This cannot be undone."
      action="Archive"
      onConfirm={async () => {
        await archiveProject(id)
        await queryClient.invalidateQueries()
        await navigate({ to: '/organization', search: { tab: 'projects' } })
      }}
      onClose={onClose}
    />
  )
}
