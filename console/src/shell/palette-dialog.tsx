import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, type LinkProps } from '@tanstack/react-router'
import { useState, type KeyboardEvent } from 'react'
import { useMay } from '../api/permissions.ts'
import { accountQuery } from '../api/account.ts'
import { modelsQuery } from '../api/models.ts'
import { classNames } from '../ui/class-names.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { permittedPages } from './navigation.ts'

const SHOWN_MAX = 12

interface Place {
  readonly id: string
  readonly label: string
  readonly note?: string
  readonly icon: IconName
  readonly link: LinkProps
}

export function PaletteDialog({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate()
  const [words, setWords] = useState('')
  const [position, setPosition] = useState(0)
  const found = usePlaces(words.trim().toLowerCase())
  const go = (index: number): void => {
    const place = found[index]
    if (place === undefined) return
    onClose()
    void navigate(place.link)
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
          <Dialog.Title className="sr-only">Go to a page or a model</Dialog.Title>
          <input
            role="combobox"
            aria-expanded="true"
            aria-controls="palette-results"
            aria-activedescendant={found[position] ? `palette-${position}` : undefined}
            aria-label="Page or model"
            placeholder="Go to a page or a model…"
            value={words}
            onChange={(event) => {
              setWords(event.target.value)
              setPosition(0)
            }}
            onKeyDown={onKey}
            className="h-12 w-full border-b border-line bg-transparent px-4 text-base outline-none placeholder:text-ink-faint"
          />
          <ul
            id="palette-results"
            role="listbox"
            aria-label="Pages and models"
            className="max-h-80 overflow-y-auto p-1"
          >
            {found.map((entry, index) => (
              <li
                key={entry.id}
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
                <span className="truncate">{entry.label}</span>
                {entry.note && <span className="ml-auto truncate text-xs text-ink-soft">{entry.note}</span>}
              </li>
            ))}
          </ul>
          {found.length === 0 && (
            <p className="px-4 pb-4 text-sm text-ink-faint">No page and no model has this name.</p>
          )}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

/** Pages first, then models, if their names have these words in them. Without words, pages. */
function usePlaces(words: string): readonly Place[] {
  const { data: account } = useQuery(accountQuery)
  const { data: models = [] } = useQuery({ ...modelsQuery, enabled: useMay('models.use') === true })
  const pages = permittedPages(account ?? { session: null })
    .flatMap(({ entries }) => entries)
    .filter(({ label }) => label.toLowerCase().includes(words))
    .map(({ label, icon, to }): Place => ({ id: label, label, icon, link: { to } }))
  if (words === '') return pages.slice(0, SHOWN_MAX)
  const named = models
    .filter(({ id, display_name: name }) => `${id} ${name}`.toLowerCase().includes(words))
    .map(({ id, display_name: name }): Place => ({
      id: `model ${id}`,
      label: name,
      note: id,
      icon: 'model',
      link: { to: '/models/$modelId', params: { modelId: id } },
    }))
  return [...pages, ...named].slice(0, SHOWN_MAX)
}
