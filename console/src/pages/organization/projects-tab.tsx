import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { msOf } from '../../api/organization-pages.ts'
import { usePermissions } from '../../api/permissions.ts'
import { createProject, projectsQuery, type Project } from '../../api/projects.ts'
import type { Column } from '../../ui/data/data-table.tsx'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { useAddressText } from '../../ui/data/table/use-address-text.ts'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'
import { Badge } from '../../ui/text/badge.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { Time } from '../../ui/text/time.tsx'

/** The projects of the account. */
export function ProjectsTab() {
  const navigate = useNavigate()
  const [shown, setShown] = useAddressText('view_projects')
  const isArchivedShown = shown === 'all'
  const [isMaking, setIsMaking] = useState(false)
  const may = usePermissions()
  const projects = useInfiniteQuery(projectsQuery(isArchivedShown))
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-3">
        <SelectField
          label="State"
          isLabelHidden
          value={isArchivedShown ? 'all' : 'active'}
          choices={[
            { value: 'active', label: 'Active projects' },
            { value: 'all', label: 'Archived ones too' },
          ]}
          onChange={(chosen) => setShown(chosen === 'all' ? chosen : '')}
        />
        <div className="grow" />
        {may('projects.manage') && (
          <Button kind="primary" icon="plus" onClick={() => setIsMaking(true)}>
            New project
          </Button>
        )}
      </div>
      <PagedTable
        label="Projects"
        tools={{ id: 'projects' }}
        query={projects}
        columns={COLUMNS}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/organization/projects/$id', params: { id } })}
        empty={
          <EmptyState icon="folder" title="No project">
            Projects separate keys, people and spending.
          </EmptyState>
        }
      />
      {isMaking && <NewProjectDialog onClose={() => setIsMaking(false)} />}
    </div>
  )
}

const COLUMNS: readonly Column<Project>[] = [
  {
    id: 'name',
    value: ({ name }) => name,
    header: 'Name',
    render: ({ id, name }) => (
      <Link
        to="/organization/projects/$id"
        params={{ id }}
        className="font-medium hover:text-accent hover:underline"
      >
        {name}
      </Link>
    ),
  },
  {
    id: 'id',
    value: ({ id }) => id,
    header: 'Id',
    width: '176px',
    isMinor: true,
    render: ({ id }) => <CopyableId id={id} label="project id" isShort />,
  },
  {
    id: 'status',
    value: ({ status }) => status,
    header: 'State',
    width: '104px',
    render: ({ status }) => <Badge tone={status === 'active' ? 'good' : 'plain'}>{status}</Badge>,
  },
  {
    id: 'created',
    value: ({ created_at: at }) => at,
    header: 'Made',
    width: '128px',
    isMinor: true,
    render: ({ created_at: at }) => <Time at={msOf(at)} />,
  },
]

function NewProjectDialog({ onClose }: { readonly onClose: () => void }) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const creation = useMutation({
    mutationFn: () => createProject(name.trim()),
    onSuccess: async ({ id }) => {
      await queryClient.invalidateQueries({ queryKey: ['projects'] })
      // The switch appears with the second project.
      await queryClient.invalidateQueries({ queryKey: ['account'] })
      await navigate({ to: '/organization/projects/$id', params: { id } })
    },
  })
  return (
    <FormDialog
      title="New project"
      action="Make the project"
      work={creation}
      failure="The project could not be made"
      isIncomplete={name.trim() === ''}
      onClose={onClose}
    >
      <TextField label="Name" required autoFocus maxLength={200} value={name} onChange={setName} />
    </FormDialog>
  )
}
