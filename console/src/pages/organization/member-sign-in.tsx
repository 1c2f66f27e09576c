import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { endSessionsOf, makeRecoveryLink, type Member } from '../../api/people.ts'
import { Button } from '../../ui/forms/button.tsx'
import { CheckboxField } from '../../ui/forms/checkbox-field.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'
import { showToast } from '../../ui/overlays/toasts.tsx'
import { LinkShownOnce } from './link-shown-once.tsx'
import { formatCountOf } from '../../ui/format/format-count.ts'

/** What a manager does for a member who lost a device: a new way in, and the end of what is open. */
export function MemberSignIn({ member }: { readonly member: Member }) {
  const [opened, setOpened] = useState<'link' | 'sessions' | null>(null)
  const close = (): void => setOpened(null)
  const name = member.name ?? member.email
  return (
    <div className="flex flex-col gap-2">
      <h3 className="text-sm font-medium">Signing in</h3>
      <p className="text-sm text-ink-soft">For somebody who lost a device, or every way in.</p>
      <div className="flex flex-wrap gap-2">
        <Button icon="key" disabled={!member.user.enabled} onClick={() => setOpened('link')}>
          Make a recovery link
        </Button>
        <Button icon="out" onClick={() => setOpened('sessions')}>
          Sign out everywhere
        </Button>
      </div>
      {opened === 'link' && <RecoveryDialog member={member} onClose={close} />}
      {opened === 'sessions' && (
        <ConfirmDialog
          title={`Sign ${name} out everywhere?`}
          description="All sessions of this person in this account end within a second. Their keys and passkeys go on working."
          action="Sign out everywhere"
          onConfirm={async () => {
            const { ended } = await endSessionsOf(member.id)
            showToast('Signed out', `${formatCountOf(ended, 'session')} ended.`)
          }}
          onClose={close}
        />
      )}
    </div>
  )
}

function RecoveryDialog({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const [endsPasskeys, setEndsPasskeys] = useState(false)
  const making = useMutation({ mutationFn: () => makeRecoveryLink(member.id, endsPasskeys) })
  if (making.data)
    return (
      <LinkShownOnce
        title={`Recovery link of ${making.data.email}`}
        email={making.data.email}
        url={making.data.url}
        note="It works once, within a day. Whoever opens it first is signed in as this person."
        onClose={onClose}
      />
    )
  return (
    <FormDialog
      title="Make a recovery link"
      action="Make the link"
      work={making}
      failure="The link could not be made"
      onClose={onClose}
    >
      <p className="text-sm text-ink-soft">
        The link signs {member.email} in once, to make a new passkey. It replaces an earlier one.
      </p>
      <CheckboxField
        label="When it is used, end all earlier passkeys and sessions, as after a theft"
        isChecked={endsPasskeys}
        onChange={setEndsPasskeys}
      />
    </FormDialog>
  )
}
