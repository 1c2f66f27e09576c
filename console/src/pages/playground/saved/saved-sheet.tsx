import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  changeSavedChat,
  deleteSavedChat,
  savedChatsQuery,
  type SavedChat,
  type SavedChatKind,
} from '../../../api/saved-chats.ts'
import { EmptyState } from '../../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../../ui/feedback/skeleton.tsx'
import { IconButton } from '../../../ui/forms/icon-button.tsx'
import { SwitchField } from '../../../ui/forms/switch-field.tsx'
import { Tabs } from '../../../ui/layout/tabs.tsx'
import { Menu, MenuItem } from '../../../ui/overlays/menu.tsx'
import { Sheet } from '../../../ui/overlays/sheet.tsx'
import { showFailure, showToast } from '../../../ui/overlays/toasts.tsx'
import { Badge } from '../../../ui/text/badge.tsx'
import { Time } from '../../../ui/text/time.tsx'
import type { History } from './use-history.ts'

const TABS = [
  { value: 'prompt', label: 'Prompts' },
  { value: 'conversation', label: 'History' },
] as const

interface SavedSheetProps {
  readonly history: History
  readonly onOpen: (id: string) => void
  readonly onClose: () => void
}

/** What is kept in the account: prompts, and the conversations of before. */
export function SavedSheet({ history, onOpen, onClose }: SavedSheetProps) {
  const [kind, setKind] = useState<SavedChatKind>('prompt')
  return (
    <Sheet title="Saved" side="right" isOpen onClose={onClose}>
      <Tabs label="What is saved" value={kind} tabs={TABS} onChange={setKind}>
        {kind === 'conversation' && (
          <div className="pb-4">
            <SwitchField
              label="Keep my conversations"
              hint="After each answer, encrypted, for 30 days. Only you see them until you share them. Pictures are left out."
              isOn={history.isOn}
              onChange={history.set}
            />
          </div>
        )}
        <SavedList kind={kind} onOpen={onOpen} />
      </Tabs>
    </Sheet>
  )
}

function SavedList({
  kind,
  onOpen,
}: {
  readonly kind: SavedChatKind
  readonly onOpen: (id: string) => void
}) {
  const { data, error, isPending, refetch } = useQuery(savedChatsQuery(kind))
  if (isPending) return <SkeletonRows count={4} />
  if (error)
    return (
      <ErrorPanel title="What is saved could not be loaded" error={error} onRetry={() => void refetch()} />
    )
  if (data.data.length === 0)
    return kind === 'prompt' ? (
      <EmptyState icon="book" title="No saved prompts">
        Write a prompt, and save it with the button Save.
      </EmptyState>
    ) : (
      <EmptyState icon="clock" title="No conversations">
        Conversations are here once you keep them.
      </EmptyState>
    )
  return (
    <ul className="divide-y divide-line">
      {data.data.map((chat) => (
        <SavedRow key={chat.id} chat={chat} onOpen={() => onOpen(chat.id)} />
      ))}
    </ul>
  )
}

function SavedRow({ chat, onOpen }: { readonly chat: SavedChat; readonly onOpen: () => void }) {
  const queryClient = useQueryClient()
  const isShared = chat.visibility === 'project'
  const change = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work()
      showToast(what)
    } catch (error) {
      showFailure('That did not work', error)
    }
    await queryClient.invalidateQueries({ queryKey: ['saved-chats', chat.kind] })
  }
  const copyLink = async (): Promise<void> => {
    if (!isShared) await changeSavedChat(chat.id, { visibility: 'project' })
    const address = new URL('/playground', location.href)
    address.searchParams.set('saved', chat.id)
    await navigator.clipboard.writeText(address.href)
  }
  return (
    <li className="flex items-center gap-2 py-2">
      <button
        type="button"
        onClick={onOpen}
        className="min-w-0 grow rounded-md px-2 py-1.5 text-left hover:bg-hover"
      >
        <span className="block truncate text-sm font-medium">{chat.name}</span>
        <span className="flex items-center gap-2 text-xs text-ink-faint">
          <Time at={chat.updated_at} />
          {isShared && <Badge tone="accent">{chat.is_own ? 'shared' : 'from a colleague'}</Badge>}
        </span>
      </button>
      {chat.is_own && (
        <Menu trigger={<IconButton icon="menu" label={`Actions for ${chat.name}`} />}>
          <MenuItem
            icon="copy"
            onSelect={() =>
              void change('The link is copied. Everybody in the project can open it.', copyLink)
            }
          >
            {isShared ? 'Copy the link' : 'Share and copy the link'}
          </MenuItem>
          {isShared && (
            <MenuItem
              icon="key"
              onSelect={() =>
                void change('Only you see it now.', () => changeSavedChat(chat.id, { visibility: 'private' }))
              }
            >
              Stop sharing
            </MenuItem>
          )}
          <MenuItem
            icon="trash"
            isDangerous
            onSelect={() => void change('Deleted.', () => deleteSavedChat(chat.id))}
          >
            Delete
          </MenuItem>
        </Menu>
      )}
    </li>
  )
}
