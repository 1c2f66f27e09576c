import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { usePermissions } from '../../api/permissions.ts'
import { deleteRole, rolesQuery, type Role } from '../../api/roles.ts'
import { FixedTable } from '../../ui/data/fixed-table.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { IconButton } from '../../ui/forms/icon-button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { RoleDialog } from './role-dialog.tsx'

/** What each role of the account allows. */
export function RolesTab() {
  const queryClient = useQueryClient()
  const may = usePermissions()
  const roles = useInfiniteQuery(rolesQuery())
  /** `new`, or the role that is changed. */
  const [written, setWritten] = useState<'new' | Role | null>(null)
  const [deleted, setDeleted] = useState<Role | null>(null)
  if (roles.error) return <ErrorPanel title="Roles could not be loaded" error={roles.error} />
  if (roles.isPending) return <SkeletonRows />
  const rows = roles.data.pages.flatMap(({ data }) => data)
  // The owner has every permission.
  const permissions = [...new Set(rows.flatMap((role) => role.permissions))]
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['roles'] })
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-2xl text-sm text-ink-soft">
          A role bounds every key and session of whoever has it. Roles in a project are on the page of the
          project.
        </p>
        {may('members.manage') && (
          <Button kind="primary" icon="plus" onClick={() => setWritten('new')}>
            New role
          </Button>
        )}
      </div>
      <FixedTable
        label="What roles allow"
        reason="A matrix of permissions and roles, both from the least to the most."
        frameClass="rounded-lg border border-line bg-surface"
        className="w-full"
      >
        <thead>
          <tr className="border-b border-line">
            <th scope="col" className="px-4 py-2 text-left text-xs font-medium text-ink-soft">
              Permission
            </th>
            {rows.map((role) => (
              <th key={role.id} scope="col" className="px-3 py-2 text-center text-xs font-medium">
                <span className="inline-flex items-center gap-1 whitespace-nowrap">
                  {role.name}
                  {!role.predefined_role && may('members.manage') && (
                    <>
                      <IconButton
                        icon="pencil"
                        label={`Change the role ${role.name}`}
                        onClick={() => setWritten(role)}
                      />
                      <IconButton
                        icon="trash"
                        label={`Delete the role ${role.name}`}
                        onClick={() => setDeleted(role)}
                      />
                    </>
                  )}
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {permissions.map((permission) => (
            <tr key={permission} className="border-b border-line last:border-b-0">
              <th scope="row" className="px-4 py-2 text-left font-mono text-xs font-normal">
                {permission}
              </th>
              {rows.map((role) => (
                <td key={role.id} className="px-3 py-2 text-center">
                  {role.permissions.includes(permission) ? (
                    <span className="inline-flex text-good">
                      <Icon name="check" />
                      <span className="sr-only">yes</span>
                    </span>
                  ) : (
                    <span className="sr-only">no</span>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </FixedTable>
      {written && (
        <RoleDialog
          role={written}
          permissions={permissions}
          onDone={refresh}
          onClose={() => setWritten(null)}
        />
      )}
      {deleted && (
        <ConfirmDialog
          title={`Delete the role ${deleted.name}?`}
          description="Whoever has it loses at once what only it allows."
          action="Delete"
          onConfirm={async () => {
            await deleteRole(deleted.id)
            await refresh()
          }}
          onClose={() => setDeleted(null)}
        />
      )}
    </div>
  )
}
