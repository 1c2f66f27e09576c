import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { msOf } from '../../api/organization-pages.ts'
import { usePermissions } from '../../api/permissions.ts'
import { invitesQuery, membersQuery, withdrawInvite, type Invite, type Member } from '../../api/people.ts'
import { DirectoryMark } from '../../organization/directory-mark.tsx'
import type { Column } from '../../ui/data/data-table.tsx'
import { timeOfSeconds } from '../../ui/data/table/column.ts'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { IconButton } from '../../ui/forms/icon-button.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { AS_DETAIL, useCloseDetail } from '../../ui/overlays/use-detail-history.ts'
import { Badge } from '../../ui/text/badge.tsx'
import { RowLink } from '../../ui/text/row-link.tsx'
import { Time } from '../../ui/text/time.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import { MemberSheet } from './member-sheet.tsx'

const route = getRouteApi('/shell/organization')

/** The people of the account, and those who were invited. */
export function MembersTab() {
  const { open: openedId } = route.useSearch()
  const navigate = route.useNavigate()
  const queryClient = useQueryClient()
  const members = useInfiniteQuery(membersQuery())
  const invites = useInfiniteQuery(invitesQuery())
  const [isInviting, setIsInviting] = useState(false)
  const [withdrawn, setWithdrawn] = useState<Invite | null>(null)
  const opened = members.data?.pages.flatMap(({ data }) => data).find(({ id }) => id === openedId)
  const pending = invites.data?.pages.flatMap(({ data }) => data).some(isOpen) === true
  const open = ({ id }: Member): void =>
    void navigate({ search: (old) => ({ ...old, open: id }), ...AS_DETAIL })
  const close = useCloseDetail(
    () => void navigate({ search: (old) => ({ ...old, open: undefined }), replace: true }),
  )
  const may = usePermissions()
  const invite = may('members.manage') && (
    <Button kind="primary" icon="plus" onClick={() => setIsInviting(true)}>
      Invite a person
    </Button>
  )
  return (
    <div className="flex flex-col gap-6">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-2xl text-sm text-ink-soft">
          A person gets in by a link that works once. Removing somebody ends their keys, sessions and streams
          at once.
        </p>
        {invite}
      </div>
      <PagedTable
        label="Members"
        tools={{ id: 'members' }}
        query={members}
        columns={memberColumns(open)}
        rowId={({ id }) => id}
        onOpen={open}
        empty={
          <EmptyState icon="people" title="Only your key so far">
            Invite the people who work with this account. Everybody gets keys of their own.
          </EmptyState>
        }
      />
      {pending && (
        <section aria-labelledby="invitations" className="flex flex-col gap-3">
          <h2 id="invitations" className="text-sm font-semibold">
            Invitations
          </h2>
          <PagedTable
            label="Invitations"
            tools={{ id: 'invitations' }}
            query={invites}
            columns={inviteColumns(may('members.manage'), setWithdrawn)}
            rowId={({ id }) => id}
            isShown={isOpen}
            empty={null}
          />
        </section>
      )}
      {isInviting && <InviteDialog onClose={() => setIsInviting(false)} />}
      {opened && <MemberSheet member={opened} onClose={close} />}
      {withdrawn && (
        <ConfirmDialog
          title="Withdraw this invitation?"
          description={`The link that was sent to ${withdrawn.email} stops working.`}
          action="Withdraw"
          onConfirm={async () => {
            await withdrawInvite(withdrawn.id)
            await queryClient.invalidateQueries({ queryKey: ['people'] })
          }}
          onClose={() => setWithdrawn(null)}
        />
      )}
    </div>
  )
}

/** Accepted ones are members. */
function isOpen({ status }: Invite): boolean {
  return status !== 'accepted'
}

function memberColumns(onOpen: (member: Member) => void): Column<Member>[] {
  return [
    {
      id: 'name',
      value: ({ name, email }) => name ?? email,
      header: 'Person',
      render: (member) => (
        <span className="flex min-w-0 items-center gap-2">
          <RowLink onOpen={() => onOpen(member)}>{member.name ?? member.email}</RowLink>
          {member.is_scim_managed && <DirectoryMark />}
        </span>
      ),
    },
    {
      id: 'email',
      value: ({ email }) => email,
      header: 'E-mail',
      isMinor: true,
      render: ({ email }) => email,
    },
    {
      id: 'role',
      value: ({ role }) => role,
      header: 'Role',
      width: '104px',
      render: ({ role }) => <Badge tone={role === 'owner' ? 'accent' : 'plain'}>{role}</Badge>,
    },
    {
      id: 'projects',
      value: ({ role, projects: { data } }) =>
        role === 'owner' ? 'all' : data.map(({ name }) => name).join(', '),
      header: 'Projects',
      isMinor: true,
      render: ({ role, projects: { data } }) =>
        role === 'owner' ? (
          <span className="text-ink-soft">all</span>
        ) : (
          data.map(({ name }) => name).join(', ') || <span className="text-ink-faint">none</span>
        ),
    },
    {
      id: 'used',
      value: ({ api_key_last_used_at: at }) => at,
      header: 'Last use',
      width: '128px',
      isMinor: true,
      render: ({ api_key_last_used_at: at }) => <Time at={msOf(at)} />,
    },
    {
      id: 'state',
      value: ({ user: { enabled } }) => (enabled ? 'active' : 'deactivated'),
      header: 'State',
      width: '112px',
      render: ({ user: { enabled } }) => (
        <Badge tone={enabled ? 'good' : 'warn'}>{enabled ? 'active' : 'deactivated'}</Badge>
      ),
    },
  ]
}

function inviteColumns(canWithdraw: boolean, onWithdraw: (invite: Invite) => void): Column<Invite>[] {
  return [
    { id: 'email', header: 'E-mail', value: ({ email }) => email, render: ({ email }) => email },
    {
      id: 'role',
      header: 'Role',
      value: ({ role }) => role,
      width: '104px',
      isMinor: true,
      render: ({ role }) => <Badge>{role}</Badge>,
    },
    {
      id: 'status',
      header: 'State',
      value: ({ status }) => status,
      width: '104px',
      render: ({ status }) => <Badge tone={status === 'pending' ? 'accent' : 'warn'}>{status}</Badge>,
    },
    {
      id: 'expires',
      header: 'Expires',
      value: ({ expires_at: at }) => timeOfSeconds(at),
      width: '128px',
      isMinor: true,
      render: ({ expires_at: at }) => <Time at={msOf(at)} />,
    },
    {
      id: 'withdraw',
      isAction: true,
      width: '64px',
      align: 'right',
      render: (invite) =>
        canWithdraw &&
        invite.status === 'pending' && (
          <IconButton
            icon="trash"
            label={`Withdraw the invitation of ${invite.email}`}
            onClick={() => onWithdraw(invite)}
          />
        ),
    },
  ]
}
