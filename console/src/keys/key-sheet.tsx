import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { accountQuery } from '../api/account.ts'
import { useMay } from '../api/permissions.ts'
import { NotPermitted } from '../ui/permitted.tsx'
import type { ApiKey, KeyActions } from '../api/keys.ts'
import { ErrorPanel } from '../ui/feedback/error-panel.tsx'
import { formatUsd } from '../ui/format/format-usd.ts'
import { Button } from '../ui/forms/button.tsx'
import { ConfirmDialog } from '../ui/overlays/confirm-dialog.tsx'
import { Sheet } from '../ui/overlays/sheet.tsx'
import { showToast } from '../ui/overlays/toasts.tsx'
import { CopyableId } from '../ui/text/copyable-id.tsx'
import { DetailsList } from '../ui/text/details-list.tsx'
import { Time } from '../ui/text/time.tsx'
import { changedSettings, draftOfKey } from './key-draft.ts'
import { KeyFields } from './key-fields.tsx'
import { KeyState } from './key-state.tsx'
import { RotateKeyDialog } from './rotate-key-dialog.tsx'

interface KeySheetProps {
  readonly apiKey: ApiKey
  readonly actions: KeyActions
  readonly onClose: () => void
}

/** One key: what it has done, what it may do, and its end. */
export function KeySheet({ apiKey, actions, onClose }: KeySheetProps) {
  const queryClient = useQueryClient()
  const { needed, mayChange } = useRightToChange(apiKey, actions)
  const [isRevoking, setIsRevoking] = useState(false)
  const [isRotating, setIsRotating] = useState(false)
  return (
    <Sheet title={apiKey.name} isOpen onClose={onClose} side="right">
      <div className="flex flex-col gap-6">
        <DetailsList
          details={{
            State: <KeyState apiKey={apiKey} />,
            Key: <span className="font-mono text-xs">{apiKey.key_prefix}</span>,
            ...(apiKey.former_key && {
              'Former secret': (
                <span>
                  <span className="font-mono text-xs">{apiKey.former_key.key_prefix}</span> until{' '}
                  <Time at={apiKey.former_key.ends_at} form="short" />
                </span>
              ),
            }),
            Id: <CopyableId id={apiKey.id} label="key id" />,
            Environment: apiKey.env,
            Made: <Time at={apiKey.created_at} form="short" />,
            'Last used': <Time at={apiKey.last_used_at} />,
            Spent: formatUsd(apiKey.spent_usd),
          }}
        />
        {!apiKey.is_active && (
          <p className="text-sm text-ink-soft">The key does not work any more and cannot be changed.</p>
        )}
        {apiKey.is_active && mayChange === false && (
          <NotPermitted permission={needed} what="Changing or revoking it needs" />
        )}
        {apiKey.is_active && mayChange === true && (
          <>
            <KeySettingsForm key={apiKey.id} apiKey={apiKey} actions={actions} />
            <div className="flex flex-wrap items-center justify-between gap-3 border-t border-line pt-4">
              <p className="text-sm text-ink-soft">Programs that use a revoked key are refused at once.</p>
              <span className="flex gap-2">
                {actions.rotate && <Button onClick={() => setIsRotating(true)}>Rotate</Button>}
                <Button kind="danger" icon="trash" onClick={() => setIsRevoking(true)}>
                  Revoke
                </Button>
              </span>
            </div>
          </>
        )}
      </div>
      {isRotating && actions.rotate && (
        <RotateKeyDialog
          apiKey={apiKey}
          rotate={actions.rotate}
          queryKey={actions.queryKey}
          onClose={() => setIsRotating(false)}
        />
      )}
      {isRevoking && (
        <ConfirmDialog
          title={`Revoke “${apiKey.name}”?`}
          description="Every process of the gateway refuses it from then on, and sessions that were started with it end. This cannot be undone."
          action="Revoke the key"
          onConfirm={async () => {
            await actions.revoke(apiKey.id)
            await queryClient.invalidateQueries({ queryKey: actions.queryKey })
            showToast('The key is revoked', apiKey.name)
            onClose()
          }}
          onClose={() => setIsRevoking(false)}
        />
      )}
    </Sheet>
  )
}

/** Whoever may change only keys of their own sees those of others. */
function useRightToChange({ user_id: ownerId }: ApiKey, { needs }: KeyActions) {
  const { data: account } = useQuery(accountQuery)
  const user = account?.session?.user ?? null
  const needed = needs === 'keys.own' && (user === null || user.id !== ownerId) ? 'keys.manage' : needs
  return { needed, mayChange: useMay(needed) } as const
}

function KeySettingsForm({ apiKey, actions }: Omit<KeySheetProps, 'onClose'>) {
  const queryClient = useQueryClient()
  const saved = draftOfKey(apiKey)
  const [draft, setDraft] = useState(saved)
  const changes = changedSettings(saved, draft)
  const update = useMutation({
    mutationFn: () => actions.update(apiKey.id, changes),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: actions.queryKey })
      showToast('The key is changed', apiKey.name)
    },
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    update.mutate()
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-4 border-t border-line pt-4">
      <KeyFields draft={draft} onChange={setDraft} hasEnvironment={false} />
      {update.error && <ErrorPanel title="The key could not be changed" error={update.error} />}
      <div className="flex justify-end">
        <Button
          kind="primary"
          type="submit"
          isBusy={update.isPending}
          disabled={
            Object.keys(changes).length === 0 || draft.name.trim() === '' || draft.scopes.length === 0
          }
        >
          Save changes
        </Button>
      </div>
    </form>
  )
}
