import { lazy, Suspense, useEffect, useState } from 'react'
import { Icon } from '../ui/icon.tsx'

const PaletteDialog = lazy(async () => ({ default: (await import('./palette-dialog.tsx')).PaletteDialog }))

/** Goes to any page or model by typing. Opens with ⌘K or Ctrl+K. */
export function CommandPalette() {
  const [isOpen, setIsOpen] = useState(false)
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return
      event.preventDefault()
      setIsOpen((wasOpen) => !wasOpen)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <>
      <button
        type="button"
        onClick={() => setIsOpen(true)}
        className="flex h-8 min-w-0 items-center gap-2 rounded-md border border-line bg-sunken px-2 text-sm text-ink-faint hover:border-line-strong sm:w-56"
      >
        <Icon name="search" />
        <span className="truncate">Go to…</span>
        <kbd className="ml-auto font-sans text-2xs max-sm:hidden">{isApple() ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      {isOpen && (
        <Suspense>
          <PaletteDialog onClose={() => setIsOpen(false)} />
        </Suspense>
      )}
    </>
  )
}

function isApple(): boolean {
  return /mac|iphone|ipad/i.test(navigator.userAgent)
}
