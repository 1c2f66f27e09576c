import type { ReactNode } from 'react'
import { useMay, useNeed, type Permission } from '../api/permissions.ts'

interface PermittedProps {
  readonly permission: Permission
  readonly children: ReactNode
}

/** What only some sessions may do. Others do not see it. */
export function Permitted({ permission, children }: PermittedProps) {
  return useMay(permission) === true ? children : null
}

/** Why something is not offered: "Refunds need a key with the scope admin." */
export function NotPermitted({
  permission,
  what,
}: {
  readonly permission: Permission
  readonly what: string
}) {
  const need = useNeed(permission)
  return (
    <p className="text-sm text-ink-soft">
      {what} {need}.
    </p>
  )
}
