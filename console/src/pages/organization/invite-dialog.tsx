import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createInvite, type AccountRole } from '../../api/people.ts'
import { projectsQuery, type ProjectRole } from '../../api/projects.ts'
import { ACCOUNT_ROLE_CHOICES, PROJECT_ROLE_CHOICES } from '../../organization/role-choices.ts'
import { CheckboxField } from '../../ui/forms/checkbox-field.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'
import { LinkShownOnce } from './link-shown-once.tsx'

/** Invites a person, and shows the link the one time that it can be seen. */
export function InviteDialog({ onClose }: { readonly onClose: () => void }) {
  const queryClient = useQueryClient()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<AccountRole>('reader')
  const [projectRole, setProjectRole] = useState<ProjectRole>('member')
  const [projectIds, setProjectIds] = useState<readonly string[]>([])
  const invitation = useMutation({
    mutationFn: () =>
      createInvite({
        email: email.trim(),
        role,
        projects: role === 'owner' ? [] : projectIds.map((id) => ({ id, role: projectRole })),
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['people'] }),
  })
  if (invitation.data)
    return (
      <LinkShownOnce
        title={`Invitation of ${invitation.data.email}`}
        email={invitation.data.email}
        url={invitation.data.url}
        note="It works once, within seven days. Inviting the same address again makes another."
        onClose={onClose}
      />
    )
  return (
    <FormDialog
      title="Invite a person"
      action="Make the link"
      work={invitation}
      failure="The invitation could not be made"
      isIncomplete={!email.includes('@')}
      onClose={onClose}
    >
      <TextField label="E-mail" type="email" required maxLength={320} value={email} onChange={setEmail} />
      <SelectField
        label="Role in the account"
        value={role}
        choices={ACCOUNT_ROLE_CHOICES}
        onChange={setRole}
      />
      {role !== 'owner' && (
        <>
          <ProjectChoice chosen={projectIds} onChange={setProjectIds} />
          {projectIds.length > 0 && (
            <SelectField
              label="Role in these projects"
              value={projectRole}
              choices={PROJECT_ROLE_CHOICES}
              onChange={setProjectRole}
            />
          )}
        </>
      )}
    </FormDialog>
  )
}

function ProjectChoice({
  chosen,
  onChange,
}: {
  readonly chosen: readonly string[]
  readonly onChange: (ids: readonly string[]) => void
}) {
  const { data } = useInfiniteQuery(projectsQuery())
  const projects = data?.pages.flatMap((page) => page.data) ?? []
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="mb-1 text-sm font-medium">Projects</legend>
      <div className="max-h-40 overflow-y-auto rounded-md border border-line px-3 py-2">
        {projects.map(({ id, name }) => (
          <CheckboxField
            key={id}
            label={name}
            isChecked={chosen.includes(id)}
            onChange={(isChecked) =>
              onChange(isChecked ? [...chosen, id] : chosen.filter((other) => other !== id))
            }
          />
        ))}
      </div>
    </fieldset>
  )
}
