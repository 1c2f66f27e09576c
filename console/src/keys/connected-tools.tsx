import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { endGrant, ownGrantsQuery, type Grant } from '../api/grants.ts'
import { ErrorPanel } from '../ui/feedback/error-panel.tsx'
import { Button } from '../ui/forms/button.tsx'
import { Section } from '../ui/layout/section.tsx'
import { ConfirmDialog } from '../ui/overlays/confirm-dialog.tsx'
import { Time } from '../ui/text/time.tsx'

/** The tools that the person signed in with a code, each of which can be signed out. */
export function ConnectedTools() {
  const queryClient = useQueryClient()
  const grants = useQuery(ownGrantsQuery)
  const [ending, setEnding] = useState<Grant | null>(null)
  return (
    <Section title="Connected tools">
      {grants.error && (
        <ErrorPanel
          title="The tools could not be loaded"
          error={grants.error}
          onRetry={() => void grants.refetch()}
        />
      )}
      {grants.data?.data.length === 0 && (
        <p className="text-sm text-ink-soft">
          No tool is signed in for you.{' '}
          <code className="rounded bg-sunken px-1 font-mono text-xs">parkway login</code> signs the command
          line in.
        </p>
      )}
      <ul aria-label="Connected tools" className="flex flex-col divide-y divide-line">
        {grants.data?.data.map((grant) => (
          <li key={grant.id} className="flex items-center justify-between gap-4 py-2 first:pt-0 last:pb-0">
            <div className="min-w-0 text-sm">
              <p className="truncate font-medium">{grant.client_id}</p>
              <p className="text-xs text-ink-soft">
                {grant.project?.name ?? 'Whole account'} · from {grant.ip_address ?? 'an unknown address'} ·
                last used <Time at={grant.last_used_at} />
              </p>
            </div>
            <Button kind="danger" onClick={() => setEnding(grant)}>
              Sign out
            </Button>
          </li>
        ))}
      </ul>
      {ending && (
        <ConfirmDialog
          title={`Sign out ${ending.client_id}?`}
          description="It can do nothing more for you at once, and its running requests end. It can be signed in again."
          action="Sign out"
          onConfirm={async () => {
            await endGrant(ending.id)
            await queryClient.invalidateQueries({ queryKey: ['grants'] })
          }}
          onClose={() => setEnding(null)}
        />
      )}
    </Section>
  )
}
