import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type KeyboardEvent } from 'react'
import { accountQuery } from '../api/account.ts'
import { classNames } from '../ui/class-names.ts'
import { Icon } from '../ui/icon.tsx'
import { NAVIGATION } from './navigation.ts'

const SHOWN_MAX = 12

export function PaletteDialog({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate()
  const { data: account } = useQuery(accountQuery)
  const [words, setWords] = useState('')
  const [position, setPosition] = useState(0)
  const scopes: readonly string[] = account?.key.scopes ?? []
  const found = NAVIGATION.filter(({ scope }) => scopes.includes(scope))
    .flatMap(({ entries }) => entries)
    .filter(({ label }) => label.toLowerCase().includes(words.trim().toLowerCase()))
    .slice(0, SHOWN_MAX)
  const go = (index: number): void => {
    const entry = found[index]
    if (entry === undefined) return
    onClose()
    void navigate({ to: entry.to })
  }
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setPosition((old) => (old + step + found.length) % Math.max(1, found.length))
    } else if (event.key === 'Enter') go(position)
  }
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Popup className="fixed top-[12dvh] left-1/2 z-40 w-[calc(100vw-32px)] max-w-lg -translate-x-1/2 overflow-hidden rounded-lg border border-line bg-surface shadow-float">
          <Dialog.Title className="sr-only">Go to a page</Dialog.Title>
          <input
            role="combobox"
            aria-expanded="true"
            aria-controls="palette-results"
            aria-activedescendant={found[position] ? `palette-${position}` : undefined}
            aria-label="Page"
            placeholder="Go to…"
            value={words}
            onChange={(event) => {
              setWords(event.target.value)
              setPosition(0)
            }}
            onKeyDown={onKey}
            className="h-12 w-full border-b border-line bg-transparent px-4 text-base outline-none placeholder:text-ink-faint"
          />
          <ul id="palette-results" role="listbox" aria-label="Pages" className="max-h-80 overflow-y-auto p-1">
            {found.map((entry, index) => (
              <li
                key={entry.label}
                id={`palette-${index}`}
                role="option"
                aria-selected={index === position}
                onClick={() => go(index)}
                onMouseMove={() => setPosition(index)}
                className={classNames(
                  'flex h-9 cursor-pointer items-center gap-3 rounded-md px-3 text-sm',
                  index === position && 'bg-hover',
                )}
              >
                <Icon name={entry.icon} className="text-ink-faint" />
                {entry.label}
              </li>
            ))}
          </ul>
          {found.length === 0 && <p className="px-4 pb-4 text-sm text-ink-faint">No page has this name.</p>}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
