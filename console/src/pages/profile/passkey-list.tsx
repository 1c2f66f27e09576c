import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { addPasskey, hasPasskeys, passkeysQuery, type Passkey } from '../../api/passkeys.ts'
import { signInMethodsQuery } from '../../api/sessions.ts'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { IconButton } from '../../ui/forms/icon-button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { showFailure, showToast } from '../../ui/overlays/toasts.tsx'
import { Badge } from '../../ui/text/badge.tsx'
import { Time } from '../../ui/text/time.tsx'
import { RemovePasskeyDialog } from './remove-passkey-dialog.tsx'
import { RenamePasskeyDialog } from './rename-passkey-dialog.tsx'

/** The passkeys of the person in this account. */
export function PasskeyList() {
  const queryClient = useQueryClient()
  const passkeys = useQuery(passkeysQuery)
  const methods = useQuery(signInMethodsQuery)
  const [renamed, setRenamed] = useState<Passkey | null>(null)
  const [removed, setRemoved] = useState<Passkey | null>(null)
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['passkeys'] })
  const adding = useMutation({
    mutationFn: addPasskey,
    onSuccess: async (added) => {
      await refresh()
      showToast('Passkey added', `"${added.name}" signs you in from now on.`)
      setRenamed(added)
    },
    onError: (error) => showFailure('The passkey could not be added', error),
  })
  const mayAdd = methods.data?.passkeys === true && hasPasskeys()
  const add = mayAdd && (
    <Button icon="plus" isBusy={adding.isPending} onClick={() => adding.mutate()}>
      Add a passkey
    </Button>
  )
  const rows = passkeys.data?.data ?? []
  return (
    <Section title="Passkeys" actions={add}>
      {passkeys.isPending && <SkeletonRows count={2} />}
      {passkeys.error && (
        <ErrorPanel
          title="Passkeys could not be loaded"
          error={passkeys.error}
          onRetry={() => void passkeys.refetch()}
        />
      )}
      {passkeys.data && rows.length === 0 && (
        <EmptyState icon="passkey" title="No passkey yet">
          {mayAdd
            ? 'With a passkey you sign in with the fingerprint, the face or the PIN of your device.'
            : 'Passkeys need this gateway at a name over https, or at localhost.'}
        </EmptyState>
      )}
      {rows.length > 0 && (
        <ul className="-my-2 divide-y divide-line">
          {rows.map((passkey) => (
            <PasskeyRow
              key={passkey.id}
              passkey={passkey}
              onRename={() => setRenamed(passkey)}
              onRemove={() => setRemoved(passkey)}
            />
          ))}
        </ul>
      )}
      {rows.length === 1 && (
        <p className="mt-3 text-xs text-ink-faint">
          Add a second one on another device, so that losing this one does not lock you out.
        </p>
      )}
      {renamed && <RenamePasskeyDialog passkey={renamed} onClose={() => setRenamed(null)} />}
      {removed && <RemovePasskeyDialog passkey={removed} onClose={() => setRemoved(null)} />}
    </Section>
  )
}

interface PasskeyRowProps {
  readonly passkey: Passkey
  readonly onRename: () => void
  readonly onRemove: () => void
}

function PasskeyRow({ passkey, onRename, onRemove }: PasskeyRowProps) {
  const { name, is_synced: isSynced, doubted_at: doubtedAt, created_at: createdAt } = passkey
  return (
    <li className="flex items-center gap-3 py-2.5">
      <Icon name="passkey" className="size-5 text-ink-faint" />
      <div className="min-w-0 grow">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm font-medium">
          <span className="truncate">{name}</span>
          {isSynced && <Badge>synced</Badge>}
          {doubtedAt !== null && <Badge tone="bad">may be copied</Badge>}
        </p>
        <p className="text-xs text-ink-faint">
          {passkey.last_used_at === null ? (
            'Never used'
          ) : (
            <>
              Used <Time at={passkey.last_used_at} />
            </>
          )}{' '}
          · made <Time at={createdAt} form="short" />
        </p>
        {doubtedAt !== null && (
          <p className="text-xs text-bad">
            Its counter went back <Time at={doubtedAt} />: somebody may have a copy. Remove it and make
            another.
          </p>
        )}
      </div>
      <IconButton icon="pencil" label={`Rename ${name}`} onClick={onRename} />
      <IconButton icon="trash" label={`Remove ${name}`} onClick={onRemove} />
    </li>
  )
}
