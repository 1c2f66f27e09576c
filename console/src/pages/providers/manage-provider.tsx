import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  changeProvider,
  removeProvider,
  type ProviderPatch,
  type ProviderStatus,
} from '../../api/operator.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { SwitchField } from '../../ui/forms/switch-field.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'
import { showToast } from '../../ui/overlays/toasts.tsx'
import { Time } from '../../ui/text/time.tsx'
import { KeyField } from './key-field.tsx'
import { NetworkDialog } from './network-dialog.tsx'
import { readKey } from './read-key.ts'

interface ManageProviderProps {
  readonly provider: ProviderStatus
  readonly onRemoved: () => void
}

/** The keys of a provider that was added here, its switch, and its end. */
export function ManageProvider({ provider, onRemoved }: ManageProviderProps) {
  const queryClient = useQueryClient()
  const [isRotating, setIsRotating] = useState(false)
  const [isRemoving, setIsRemoving] = useState(false)
  const [isConnecting, setIsConnecting] = useState(false)
  const change = useMutation({
    mutationFn: (patch: ProviderPatch) => changeProvider(provider.id, patch),
    onSuccess: () => queryClient.invalidateQueries(),
  })
  return (
    <section aria-label="Settings" className="flex flex-col gap-4 border-t border-line pt-4">
      <SwitchField
        label="Requests are sent to it"
        isOn={provider.is_enabled}
        onChange={(isEnabled) => change.mutate({ is_enabled: isEnabled })}
      />
      {change.error && <ErrorPanel title="The provider could not be changed" error={change.error} />}
      <ul aria-label="Keys" className="flex flex-col gap-2">
        {provider.credentials.map((credential) => (
          <li key={credential.id} className="flex flex-wrap items-baseline justify-between gap-x-3 text-sm">
            <span className="min-w-0 truncate font-mono text-xs">
              {credential.secret_ref ??
                (credential.ends_with === null ? 'stored' : `…${credential.ends_with}`)}
            </span>
            <span className="text-xs text-ink-faint">
              {credential.problem ?? (
                <>
                  since <Time at={credential.created_at} />
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap justify-end gap-2">
        <Button kind="danger" onClick={() => setIsRemoving(true)}>
          Remove
        </Button>
        <Button onClick={() => setIsConnecting(true)}>Network</Button>
        <Button onClick={() => setIsRotating(true)}>New key</Button>
      </div>
      {isConnecting && <NetworkDialog provider={provider} onClose={() => setIsConnecting(false)} />}
      {isRotating && <NewKeyDialog provider={provider} onClose={() => setIsRotating(false)} />}
      {isRemoving && (
        <ConfirmDialog
          title={`Remove ${provider.id}?`}
          description="New requests do not use it any more. Those that are running end as usual. Its keys are deleted here."
          action="Remove the provider"
          onConfirm={async () => {
            await removeProvider(provider.id)
            await queryClient.invalidateQueries()
            showToast('The provider is removed', provider.id)
            onRemoved()
          }}
          onClose={() => setIsRemoving(false)}
        />
      )}
    </section>
  )
}

/** Replaces all keys by one. Requests that are running end with the former ones. */
function NewKeyDialog({
  provider,
  onClose,
}: {
  readonly provider: ProviderStatus
  readonly onClose: () => void
}) {
  const queryClient = useQueryClient()
  const [key, setKey] = useState('')
  const rotation = useMutation({
    mutationFn: () => changeProvider(provider.id, { credentials: [readKey(key)] }),
    onSuccess: async () => {
      await queryClient.invalidateQueries()
      showToast('The key is in use', provider.id)
      onClose()
    },
  })
  return (
    <FormDialog
      title={`New key of ${provider.id}`}
      action="Use this key"
      work={rotation}
      failure="The key could not be changed"
      isIncomplete={key.trim() === ''}
      onClose={onClose}
    >
      <p className="text-sm text-ink-soft">
        It replaces the keys of this provider at once, in every process.
      </p>
      <KeyField label="Key" required value={key} onChange={setKey} />
    </FormDialog>
  )
}
