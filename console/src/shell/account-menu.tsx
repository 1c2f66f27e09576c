import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { announceSignedOut } from '../api/session-signals.ts'
import { signOut } from '../api/sessions.ts'
import { Menu, MenuItem, MenuLine } from '../ui/overlays/menu.tsx'
import { showFailure } from '../ui/overlays/toasts.tsx'
import { setTheme } from '../ui/theme.ts'

/** The menu behind the account. Loaded when it is opened first. */
export function AccountMenu({ trigger }: { readonly trigger: ReactElement<Record<string, unknown>> }) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const leave = (): void => {
    signOut().then(
      () => {
        queryClient.clear()
        announceSignedOut()
      },
      (error: unknown) => showFailure('Signing out failed', error),
    )
  }
  return (
    <Menu trigger={trigger} isOpenAtFirst>
      <MenuItem icon="sun" onSelect={() => setTheme('light')}>
        Light
      </MenuItem>
      <MenuItem icon="moon" onSelect={() => setTheme('dark')}>
        Dark
      </MenuItem>
      <MenuItem icon="screen" onSelect={() => setTheme('system')}>
        Same as the system
      </MenuItem>
      <MenuLine />
      <MenuItem icon="people" onSelect={() => void navigate({ to: '/profile' })}>
        Your profile
      </MenuItem>
      <MenuItem icon="book" onSelect={() => window.open('/docs', '_blank', 'noopener')}>
        API reference
      </MenuItem>
      <MenuItem icon="out" onSelect={leave}>
        Sign out
      </MenuItem>
    </Menu>
  )
}
