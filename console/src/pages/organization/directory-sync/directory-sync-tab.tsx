import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { msOf } from '../../../api/organization-pages.ts'
import {
  scimStateQuery,
  scimTokensQuery,
  worksNow,
  type ScimState,
  type ScimToken,
} from '../../../api/scim.ts'
import { ErrorPanel } from '../../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../../ui/feedback/skeleton.tsx'
import { formatCount } from '../../../ui/format/format-count.ts'
import { Button } from '../../../ui/forms/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Section } from '../../../ui/layout/section.tsx'
import { Badge, type Tone } from '../../../ui/text/badge.tsx'
import { CopyableId } from '../../../ui/text/copyable-id.tsx'
import { Figure } from '../../../ui/text/figure.tsx'
import { Time } from '../../../ui/text/time.tsx'
import { NewTokenDialog } from './new-token-dialog.tsx'
import { ScimFailures } from './scim-failures.tsx'
import { ScimTokens } from './scim-tokens.tsx'

/** How a directory of the company writes the people and groups of the account. */
export function DirectorySyncTab() {
  const state = useQuery(scimStateQuery)
  const tokens = useInfiniteQuery(scimTokensQuery())
  /** `new`, or the token that gets a successor. */
  const [making, setMaking] = useState<'new' | ScimToken | null>(null)
  const failure = state.error ?? tokens.error
  if (failure && (!state.data || !tokens.data))
    return (
      <ErrorPanel
        title="Directory sync could not be loaded"
        error={failure}
        onRetry={() => {
          void state.refetch()
          void tokens.refetch()
        }}
      />
    )
  if (!state.data || !tokens.data) return <SkeletonRows />
  const rows = tokens.data.pages.flatMap(({ data }) => data)
  const isOn = rows.some(worksNow)
  return (
    <div className="flex flex-col gap-6">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <p className="max-w-2xl text-sm text-ink-soft">
          Entra, Okta and other directories make, change and deactivate the members of this account, and say
          who is in which group, by SCIM 2.0. Roles and projects are given here.
        </p>
        <Button kind="primary" icon="plus" onClick={() => setMaking('new')}>
          {isOn ? 'New token' : 'Connect a directory'}
        </Button>
      </div>
      {isOn && !state.data.has_owner && <NoOwner />}
      <Connection state={state.data} isOn={isOn} />
      <ScimFailures failures={state.data.failures} tokens={rows} />
      <ScimTokens rows={rows} onReplace={setMaking} />
      {tokens.hasNextPage && (
        <Button
          className="self-start"
          isBusy={tokens.isFetchingNextPage}
          onClick={() => void tokens.fetchNextPage()}
        >
          Show more tokens
        </Button>
      )}
      {making !== null && (
        <NewTokenDialog of={making} baseUrl={state.data.base_url} onClose={() => setMaking(null)} />
      )}
    </div>
  )
}

function Connection({ state, isOn }: { readonly state: ScimState; readonly isOn: boolean }) {
  const { tone, word, sentence } = describeState(state, isOn)
  const { suspended_users: suspended } = state
  return (
    <Section title="Connection" actions={<Badge tone={tone}>{word}</Badge>}>
      <div className="flex flex-col gap-6">
        <p className="text-sm">{sentence}</p>
        <div className="grid grid-cols-2 gap-6 lg:grid-cols-4">
          <Figure
            label="People"
            value={formatCount(state.users)}
            note={suspended === 0 ? 'managed by the directory' : `${formatCount(suspended)} deactivated`}
          />
          <Figure label="Groups" value={formatCount(state.groups)} note="managed by the directory" />
          <Figure
            label="Refused writes"
            value={formatCount(state.failures.length)}
            note={state.failures.length === 0 ? 'nothing was refused' : 'the last 20 are kept'}
          />
          <div className="flex flex-col gap-1">
            <p className="text-xs font-medium text-ink-soft">Last synchronisation</p>
            <p className="text-2xl/8 font-semibold tracking-tight">
              <Time at={msOf(state.last_sync_at)} />
            </p>
            {state.last_sync_at !== null && <p className="text-xs text-ink-faint">exact to the minute</p>}
          </div>
        </div>
        <div className="flex flex-col gap-1 rounded-md bg-sunken p-3 text-sm">
          <span className="text-ink-soft">
            Base URL for the directory: “Tenant URL” in Entra, “Base URL” in Okta
          </span>
          <CopyableId id={state.base_url} label="base URL" />
        </div>
      </div>
    </Section>
  )
}

function describeState(state: ScimState, isOn: boolean): { tone: Tone; word: string; sentence: string } {
  if (!isOn)
    return {
      tone: 'plain',
      word: 'off',
      sentence:
        state.users + state.groups === 0
          ? 'No directory is connected. Make a token and enter it there together with the base URL.'
          : 'No token works any more, so no directory changes anything. People and groups stay as they are.',
    }
  if (state.last_sync_at === null)
    return {
      tone: 'accent',
      word: 'waiting',
      sentence:
        'A token is there, and no directory has used it yet. Entra starts within 40 minutes, Okta with the first assignment.',
    }
  return { tone: 'good', word: 'on', sentence: 'A directory is connected.' }
}

function NoOwner() {
  return (
    <div role="alert" className="flex gap-3 rounded-lg border border-line bg-warn-soft px-4 py-3">
      <Icon name="warn" className="mt-0.5 text-warn" />
      <p className="text-sm">
        <span className="font-medium">No active member owns this account.</span> Keys of the account still
        work. Give somebody the role owner under Members.
      </p>
    </div>
  )
}
