import { lazy, Suspense, useState, type ReactNode } from 'react'
import { Button } from '../ui/forms/button.tsx'
import { Icon } from '../ui/icon.tsx'

const OwnDeprecationsDialog = lazy(async () => ({
  default: (await import('./own-deprecations-dialog.tsx')).OwnDeprecationsDialog,
}))

/** More are a number. */
const NAMED_MAX = 3

interface NoticeProps {
  /** The ids of models that end and are still used. */
  readonly models: readonly string[]
  /** What they are used by: "Your keys". */
  readonly who: string
  readonly action: ReactNode
}

/** Says which models in use will end. Nothing where there are none. */
export function DeprecationNotice({ models, who, action }: NoticeProps) {
  if (models.length === 0) return null
  const others = models.length - NAMED_MAX
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border border-line bg-warn-soft px-4 py-2 text-sm"
    >
      <Icon name="warn" className="shrink-0 text-warn" />
      <p className="min-w-0 grow basis-60">
        {who} used {models.length === 1 ? 'a model' : 'models'} in the last 30 days that{' '}
        {models.length === 1 ? 'ends' : 'end'}:{' '}
        <span className="font-medium break-words">{models.slice(0, NAMED_MAX).join(', ')}</span>
        {others > 0 && ` and ${others} more`}.
      </p>
      {action}
    </div>
  )
}

/** The same for the keys of the account, with a list of them. */
export function OwnDeprecationNotice({ models }: { readonly models: readonly string[] }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <DeprecationNotice
        models={models}
        who="Your keys"
        action={<Button onClick={() => setIsOpen(true)}>Which keys</Button>}
      />
      {isOpen && (
        <Suspense>
          <OwnDeprecationsDialog onClose={() => setIsOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
