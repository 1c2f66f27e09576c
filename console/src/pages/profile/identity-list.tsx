import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { describeFailure } from '../../api/api-error.ts'
import { identitiesQuery, linkIdentity, removeIdentity, type Identity } from '../../api/identities.ts'
import { signInMethodsQuery } from '../../api/sessions.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { buttonClass } from '../../ui/forms/button.tsx'
import { IconButton } from '../../ui/forms/icon-button.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { showFailure, showToast } from '../../ui/overlays/toasts.tsx'
import { Badge } from '../../ui/text/badge.tsx'
import { Time } from '../../ui/text/time.tsx'

interface IdentityListProps {
  /** Of the sign-in that the browser has come back from. */
  readonly ticket: string | undefined
  /** Takes the ticket out of the address. */
  readonly onTaken: () => void
}

/** With which accounts of identity providers the person signs in. Nothing where the gateway has no providers. */
export function IdentityList({ ticket, onTaken }: IdentityListProps) {
  const queryClient = useQueryClient()
  const identities = useQuery(identitiesQuery)
  const methods = useQuery(signInMethodsQuery)
  const [removed, setRemoved] = useState<Identity | null>(null)
  useEffect(() => {
    if (ticket === undefined) return
    onTaken()
    linkIdentity(ticket)
      .then(async ({ provider }) => {
        await queryClient.invalidateQueries({ queryKey: ['identities'] })
        showToast('Sign-in linked', `You can sign in with ${provider} from now on.`)
      })
      .catch((error: unknown) => showFailure('The sign-in could not be linked', error))
  }, [ticket, onTaken, queryClient])
  const rows = identities.data?.data ?? []
  const free = (methods.data?.providers ?? []).filter(({ id }) => !rows.some((row) => row.id === id))
  if (identities.error)
    return (
      <ErrorPanel
        title="Your sign-ins could not be loaded"
        error={identities.error}
        onRetry={() => void identities.refetch()}
      />
    )
  if (identities.isPending || rows.length + free.length === 0) return null
  return (
    <Section
      title="Company sign-in"
      actions={free.map(({ id, name, url }) => (
        <a key={id} href={`${url}?link=1`} className={buttonClass()}>
          Link {name}
        </a>
      ))}
    >
      {rows.length === 0 && (
        <p className="text-sm text-ink-soft">No sign-in of a company is linked to you here.</p>
      )}
      <ul aria-label="Company sign-ins" className="-my-2 divide-y divide-line">
        {rows.map((identity) => (
          <li key={identity.id} className="flex items-center gap-3 py-2.5">
            <div className="min-w-0 grow">
              <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm font-medium">
                <span className="truncate">{identity.provider}</span>
                {!identity.is_enabled && <Badge>switched off</Badge>}
              </p>
              <p className="truncate text-xs text-ink-soft">
                {identity.email ?? identity.issuer} · used <Time at={identity.last_used_at} />
              </p>
            </div>
            <IconButton
              icon="trash"
              label={`Remove ${identity.provider}`}
              onClick={() => setRemoved(identity)}
            />
          </li>
        ))}
      </ul>
      {removed && <RemoveIdentityDialog identity={removed} onClose={() => setRemoved(null)} />}
    </Section>
  )
}

/** Removes an identity. Asks once more for the last way in. */
function RemoveIdentityDialog({ identity, onClose }: { identity: Identity; onClose: () => void }) {
  const queryClient = useQueryClient()
  const [isLast, setIsLast] = useState(false)
  return (
    <ConfirmDialog
      key={String(isLast)}
      title={isLast ? 'Remove your last way in?' : `Remove ${identity.provider}?`}
      description={
        isLast
          ? 'You have no passkey, no key of your own and no other provider. When this session ends, only a link from whoever manages the members lets you in again.'
          : 'It does not sign you in any more, and the sessions that began with it end.'
      }
      action={isLast ? 'Remove all the same' : 'Remove'}
      onConfirm={async () => {
        try {
          await removeIdentity(identity.id, isLast)
        } catch (error) {
          if (!isLast && describeFailure(error).code === 'conflict') {
            setIsLast(true)
            // The dialog asks again instead of closing.
            await new Promise(() => {})
          }
          throw error
        }
        await queryClient.invalidateQueries({ queryKey: ['identities'] })
      }}
      onClose={onClose}
    />
  )
}
