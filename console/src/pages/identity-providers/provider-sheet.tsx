import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Permitted } from '../../ui/permitted.tsx'
import { changeProvider, deleteProvider, type IdentityProvider } from '../../api/identity-providers.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { SwitchField } from '../../ui/forms/switch-field.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { Sheet } from '../../ui/overlays/sheet.tsx'
import { showToast } from '../../ui/overlays/toasts.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { DetailsList } from '../../ui/text/details-list.tsx'
import { Time } from '../../ui/text/time.tsx'
import { ProviderFields } from './provider-fields.tsx'
import { formOf, settingsOf } from './provider-form.ts'
import { ProviderTest } from './provider-test.tsx'

interface ProviderSheetProps {
  readonly provider: IdentityProvider
  readonly onClose: () => void
}

/** One provider: the addresses to enter there, what happened last, a test, its settings and its end. */
export function ProviderSheet({ provider, onClose }: ProviderSheetProps) {
  const queryClient = useQueryClient()
  const [form, setForm] = useState(() => formOf(provider))
  const [isDeleting, setIsDeleting] = useState(false)
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['identity-providers'] })
  const change = useMutation({
    mutationFn: (enabled?: boolean) =>
      changeProvider(provider.id, enabled === undefined ? settingsOf(form) : { enabled }),
    onSuccess: async () => {
      await refresh()
      showToast('The provider is changed', provider.name)
    },
  })
  return (
    <Sheet title={provider.name} isOpen onClose={onClose} side="right">
      <div className="flex flex-col gap-6">
        <DetailsList details={detailsOf(provider)} />
        <Permitted permission="gateway.manage">
          <SwitchField
            label="People can sign in with it"
            hint="Switching it off ends its sessions."
            isOn={provider.enabled}
            onChange={(enabled) => change.mutate(enabled)}
          />
          <ProviderTest providerId={provider.id} />
          <form
            className="flex flex-col gap-4 border-t border-line pt-4"
            onSubmit={(event) => {
              event.preventDefault()
              change.mutate(undefined)
            }}
          >
            <ProviderFields
              form={form}
              onChange={(part) => setForm({ ...form, ...part })}
              hasSecret={provider.has_client_secret}
            />
            {change.error && <ErrorPanel title="The provider could not be changed" error={change.error} />}
            <div className="flex flex-wrap justify-between gap-3">
              <Button kind="primary" type="submit" isBusy={change.isPending}>
                Save
              </Button>
              <Button kind="danger" onClick={() => setIsDeleting(true)}>
                Delete
              </Button>
            </div>
          </form>
        </Permitted>
      </div>
      {isDeleting && (
        <ConfirmDialog
          title={`Delete ${provider.name}?`}
          description="Its sessions end, and nobody signs in with it any more. The people stay members and sign in another way."
          action="Delete the provider"
          onConfirm={async () => {
            await deleteProvider(provider.id)
            await refresh()
            onClose()
          }}
          onClose={() => setIsDeleting(false)}
        />
      )}
    </Sheet>
  )
}

function detailsOf(provider: IdentityProvider) {
  const { last_failure: failure, last_sign_in_at: signedInAt, groups_missing_at: missingAt } = provider
  return {
    Issuer: <CopyableId id={provider.issuer} label="issuer" />,
    'Redirect address': <CopyableId id={provider.redirect_uri} label="redirect address" />,
    'Logout address': <CopyableId id={provider.logout_uri} label="logout address" />,
    'Last sign-in': signedInAt === null ? 'never' : <Time at={signedInAt} form="short" />,
    'Last failure':
      failure === null ? null : (
        <span className="break-words">
          <Time at={failure.at} form="short" />: {failure.message}
        </span>
      ),
    'Groups left out': missingAt === null ? null : <Time at={missingAt} form="short" />,
  }
}
