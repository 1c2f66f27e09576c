import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useCallback } from 'react'
import { currentSessionQuery } from '../../api/sessions.ts'
import { ConnectedTools } from '../../keys/connected-tools.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { buttonClass } from '../../ui/forms/button.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { Badge } from '../../ui/text/badge.tsx'
import { DetailsList } from '../../ui/text/details-list.tsx'
import { IdentityList } from './identity-list.tsx'
import { PasskeyList } from './passkey-list.tsx'
import { SessionList } from './session-list.tsx'

const route = getRouteApi('/shell/profile')

/** Who the person is here, how they sign in, and where they are signed in. */
export function ProfilePage() {
  const current = useQuery(currentSessionQuery(''))
  const user = current.data?.user ?? null
  const { link } = route.useSearch()
  const navigate = route.useNavigate()
  const forgetTicket = useCallback(() => void navigate({ search: {}, replace: true }), [navigate])
  return (
    <Page>
      <PageHeader
        title="Your profile"
        description="How you sign in to this account, and where you are signed in."
        actions={
          <Link to="/keys" className={buttonClass()}>
            Your keys
          </Link>
        }
      />
      {current.isPending && <SkeletonRows count={4} />}
      {current.error && (
        <ErrorPanel
          title="Your profile could not be loaded"
          error={current.error}
          onRetry={() => void current.refetch()}
        />
      )}
      {current.data && (
        <div className="flex max-w-3xl flex-col gap-6">
          <Section title="You">
            <DetailsList
              details={{
                ...(user === null
                  ? { Person: 'No person: you signed in with a key of the account.' }
                  : {
                      Name: user.name ?? '–',
                      'E-mail': user.email,
                      Role: <Badge tone="accent">{user.role}</Badge>,
                    }),
                Account: current.data.account.name,
                ...(current.data.project && { Project: current.data.project.name }),
              }}
            />
          </Section>
          {user !== null && <PasskeyList />}
          {user !== null && <IdentityList ticket={link} onTaken={forgetTicket} />}
          <SessionList />
          {user !== null && <ConnectedTools />}
        </div>
      )}
    </Page>
  )
}
