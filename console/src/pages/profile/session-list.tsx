import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { describeBrowser } from '../../api/passkeys.ts'
import { endOtherSessions, endSession, ownSessionsQuery, type Session } from '../../api/sessions.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { showFailure, showToast } from '../../ui/overlays/toasts.tsx'
import { Badge } from '../../ui/text/badge.tsx'
import { Time } from '../../ui/text/time.tsx'
import { formatCountOf } from '../../ui/format/format-count.ts'

const METHODS: Readonly<Record<string, string>> = {
  key: 'with an API key',
  link: 'with a link',
  invitation: 'with an invitation',
  directory: 'at the directory',
  passkey: 'with a passkey',
}

/** Where the person is signed in, with a way to end each and all. */
export function SessionList() {
  const queryClient = useQueryClient()
  const sessions = useQuery(ownSessionsQuery)
  const [isEndingAll, setIsEndingAll] = useState(false)
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['sessions'] })
  const ending = useMutation({
    mutationFn: endSession,
    onSuccess: refresh,
    onError: (error) => showFailure('The session could not be ended', error),
  })
  const rows = sessions.data?.data ?? []
  const everywhere = rows.length > 1 && (
    <Button kind="danger" icon="out" onClick={() => setIsEndingAll(true)}>
      Sign out everywhere else
    </Button>
  )
  return (
    <Section title="Where you are signed in" actions={everywhere}>
      {sessions.isPending && <SkeletonRows count={3} />}
      {sessions.error && (
        <ErrorPanel
          title="Sessions could not be loaded"
          error={sessions.error}
          onRetry={() => void sessions.refetch()}
        />
      )}
      <ul className="-my-2 divide-y divide-line">
        {rows.map((session) => (
          <SessionRow
            key={session.id}
            session={session}
            isEnding={ending.isPending && ending.variables === session.id}
            onEnd={() => ending.mutate(session.id)}
          />
        ))}
      </ul>
      {isEndingAll && (
        <ConfirmDialog
          title="Sign out everywhere else?"
          description="All other sessions of yours in this account end within a second, also in other browsers and in the middle of an answer. This one stays."
          action="Sign out everywhere else"
          onConfirm={async () => {
            const { ended } = await endOtherSessions()
            await refresh()
            showToast('Signed out', `${formatCountOf(ended, 'session')} ended.`)
          }}
          onClose={() => setIsEndingAll(false)}
        />
      )}
    </Section>
  )
}

interface SessionRowProps {
  readonly session: Session
  readonly isEnding: boolean
  readonly onEnd: () => void
}

function SessionRow({ session, isEnding, onEnd }: SessionRowProps) {
  const browser = describeBrowser(session.user_agent)
  return (
    <li className="flex items-center gap-3 py-2.5">
      <Icon name="screen" className="size-5 text-ink-faint" />
      <div className="min-w-0 grow">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm font-medium">
          <span className="truncate" title={session.user_agent}>
            {browser}
          </span>
          {session.is_current && <Badge tone="good">this one</Badge>}
        </p>
        <p className="text-xs text-ink-faint">
          {METHODS[session.method] ?? session.method}
          {session.ip_address !== null && <> from {session.ip_address}</>} · used{' '}
          <Time at={session.last_used_at} /> · ends at the latest{' '}
          <Time at={session.expires_at} form="short" />
        </p>
      </div>
      {!session.is_current && (
        <Button isBusy={isEnding} onClick={onEnd}>
          End<span className="sr-only"> the session of {browser}</span>
        </Button>
      )}
    </li>
  )
}
