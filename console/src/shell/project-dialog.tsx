import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState, type KeyboardEvent } from 'react'
import { currentSessionQuery, moveToProject } from '../api/sessions.ts'
import { classNames } from '../ui/class-names.ts'
import { ErrorPanel } from '../ui/feedback/error-panel.tsx'
import { Icon } from '../ui/icon.tsx'
import { findPage } from './navigation.ts'

interface Choice {
  readonly id: string | null
  readonly name: string
}

const PAUSE_MS = 200

/** Chooses where the session continues: the whole account or a project, found by a part of its name. */
export function ProjectDialog({
  currentId,
  onClose,
}: {
  readonly currentId: string | null
  readonly onClose: () => void
}) {
  const [words, setWords] = useState('')
  const [position, setPosition] = useState(0)
  const [failure, setFailure] = useState<unknown>(null)
  const search = usePause(words.trim())
  const { data, error, isPending } = useQuery(currentSessionQuery(search))
  const wanted = words.trim().toLowerCase()
  const choices: readonly Choice[] = [
    ...(data?.can_see_account && wanted === '' ? [{ id: null, name: 'All projects' }] : []),
    // Those of the search before are shown until the next answer comes, so they are compared here too.
    ...(data?.projects ?? []).filter(({ name }) => name.toLowerCase().includes(wanted)),
  ]
  const choose = (index: number): void => {
    const choice = choices[index]
    if (choice === undefined) return
    // What is open may not exist in the other project.
    moveToProject(choice.id, findPage(location.pathname)?.to ?? '/').catch(setFailure)
  }
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setPosition((old) => (old + step + choices.length) % Math.max(1, choices.length))
    } else if (event.key === 'Enter') choose(position)
  }
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Popup className="fixed top-[12dvh] left-1/2 z-40 w-[calc(100vw-32px)] max-w-lg -translate-x-1/2 overflow-hidden rounded-lg border border-line bg-surface shadow-float">
          <Dialog.Title className="sr-only">Choose a project</Dialog.Title>
          <input
            role="combobox"
            aria-expanded="true"
            aria-controls="project-choices"
            aria-activedescendant={choices[position] ? `project-${position}` : undefined}
            aria-label="Project"
            placeholder="Find a project…"
            value={words}
            onChange={(event) => {
              setWords(event.target.value)
              setPosition(0)
            }}
            onKeyDown={onKey}
            className="h-12 w-full border-b border-line bg-transparent px-4 text-base outline-none placeholder:text-ink-faint"
          />
          <ul
            id="project-choices"
            role="listbox"
            aria-label="Projects"
            className="max-h-80 overflow-y-auto p-1"
          >
            {choices.map(({ id, name }, index) => (
              <li
                key={id}
                id={`project-${index}`}
                role="option"
                aria-selected={index === position}
                onClick={() => choose(index)}
                onMouseMove={() => setPosition(index)}
                className={classNames(
                  'flex h-9 cursor-pointer items-center gap-3 rounded-md px-3 text-sm max-sm:h-11',
                  index === position && 'bg-hover',
                )}
              >
                <Icon name={id === null ? 'people' : 'folder'} className="text-ink-faint" />
                <span className="truncate">{name}</span>
                {id === currentId && (
                  <span className="ml-auto flex items-center gap-1 text-xs text-ink-soft">
                    <Icon name="check" /> here
                  </span>
                )}
              </li>
            ))}
          </ul>
          <div className="px-4 pb-3 text-xs text-ink-faint empty:hidden">
            {choices.length === 0 && !isPending && !error && <p>You are in no project with this name.</p>}
            {data?.has_more_projects && <p>There are more. Type a part of the name.</p>}
            {Boolean(error ?? failure) && (
              <ErrorPanel title="The project could not be changed" error={error ?? failure} />
            )}
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

/** The text a moment after it was typed. */
function usePause(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
