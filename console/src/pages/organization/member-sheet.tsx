import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { msOf } from '../../api/organization-pages.ts'
import { usePermissions } from '../../api/permissions.ts'
import { ACCOUNT_ROLES, changeMemberRole, removeMember, type Member } from '../../api/people.ts'
import { DirectoryNote } from '../../organization/directory-mark.tsx'
import { RoleAssignments } from '../../organization/role-assignments.tsx'
import { ACCOUNT_ROLE_CHOICES } from '../../organization/role-choices.ts'
import { Button } from '../../ui/forms/button.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { Sheet } from '../../ui/overlays/sheet.tsx'
import { showFailure, showToast } from '../../ui/overlays/toasts.tsx'
import { Badge } from '../../ui/text/badge.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { DetailsList } from '../../ui/text/details-list.tsx'
import { Time } from '../../ui/text/time.tsx'
import { MemberSignIn } from './member-sign-in.tsx'

/** One person: their role, their projects, and the end of it. */
export function MemberSheet({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const queryClient = useQueryClient()
  const may = usePermissions()
  const [isRemoving, setIsRemoving] = useState(false)
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['people'] })
  const change = useMutation({
    mutationFn: (role: (typeof ACCOUNT_ROLES)[number]) => changeMemberRole(member.id, role),
    onSuccess: async ({ role }) => {
      await refresh()
      showToast('Role changed', `${member.email} is ${role} now.`)
    },
    onError: (error) => showFailure('The role could not be changed', error),
  })
  const role = ACCOUNT_ROLES.find((known) => known === member.role)
  return (
    <Sheet title={member.name ?? member.email} isOpen onClose={onClose} side="right">
      <div className="flex flex-col gap-6">
        <DetailsList
          details={{
            'E-mail': member.email,
            Id: <CopyableId id={member.id} label="user id" />,
            State: (
              <Badge tone={member.user.enabled ? 'good' : 'warn'}>
                {member.user.enabled ? 'active' : 'deactivated'}
              </Badge>
            ),
            Joined: <Time at={msOf(member.added_at)} form="short" />,
            'Last use': <Time at={msOf(member.api_key_last_used_at)} />,
          }}
        />
        {member.is_scim_managed && (
          <DirectoryNote>
            Your directory manages this person by SCIM: name, address, whether they are active, and the groups
            of the directory come from there. The role below and further roles are given here.
          </DirectoryNote>
        )}
        {role !== undefined && (
          <SelectField
            label="Role in the account"
            value={role}
            choices={ACCOUNT_ROLE_CHOICES}
            disabled={change.isPending || !may('members.manage')}
            hint="A change applies at once to every key and session of the person."
            onChange={(chosen) => change.mutate(chosen)}
          />
        )}
        <RoleAssignments holder={{ kind: 'user', id: member.id }} without={member.role} />
        <div className="flex flex-col gap-2">
          <h3 className="text-sm font-medium">Projects</h3>
          {member.role === 'owner' && (
            <p className="text-sm text-ink-soft">An owner of the account works in every project.</p>
          )}
          {member.projects.data.length === 0 && member.role !== 'owner' && (
            <p className="text-sm text-ink-soft">None. Add the person on the page of a project.</p>
          )}
          <ul className="flex flex-col gap-1">
            {member.projects.data.map((project) => (
              <li key={project.id} className="flex items-center justify-between gap-3 text-sm">
                <Link
                  to="/organization/projects/$id"
                  params={{ id: project.id }}
                  className="min-w-0 truncate text-accent underline"
                >
                  {project.name}
                </Link>
                <Badge>{project.role}</Badge>
              </li>
            ))}
          </ul>
        </div>
        {may('members.manage') && <MemberSignIn member={member} />}
        {may('members.manage') && (
          <div>
            <Button kind="danger" onClick={() => setIsRemoving(true)}>
              Remove from the account
            </Button>
          </div>
        )}
      </div>
      {isRemoving && (
        <ConfirmDialog
          title={`Remove ${member.name ?? member.email}?`}
          description={`Their keys and sessions in this account end at once, and streams in progress too. Their keys stay revoked when they come back.${member.is_scim_managed ? ' While the directory still has them assigned, it may bring them back: take them out there too.' : ''}`}
          action="Remove"
          onConfirm={async () => {
            await removeMember(member.id)
            await refresh()
            onClose()
          }}
          onClose={() => setIsRemoving(false)}
        />
      )}
    </Sheet>
  )
}
