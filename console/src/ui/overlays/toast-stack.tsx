import { Toast } from '@base-ui/react/toast'
import { useEffect } from 'react'
import { IconButton } from '../forms/icon-button.tsx'
import type { ToastContent } from './toast-content.ts'

const manager = Toast.createToastManager()
const FAILURE_SHOWN_MS = 12_000

interface ToastStackProps {
  /** Toasts that are not shown yet. */
  readonly waiting: readonly ToastContent[]
  /** Returns them once, because an effect may run twice. */
  readonly take: () => readonly ToastContent[]
}

/** The stack of toasts. Loaded with the first one. */
export function ToastStack({ waiting, take }: ToastStackProps) {
  useEffect(() => {
    if (waiting.length === 0) return
    for (const { title, description, isFailure } of take())
      manager.add({
        title,
        description,
        ...(isFailure && { priority: 'high' as const, timeout: FAILURE_SHOWN_MS }),
      })
  }, [waiting, take])
  return (
    <Toast.Provider toastManager={manager}>
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-4 z-50 flex w-80 max-w-[calc(100vw-32px)] flex-col gap-2">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function ToastList() {
  const { toasts } = Toast.useToastManager()
  return toasts.map((toast) => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      className="rounded-lg border border-line bg-surface shadow-float transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0"
    >
      <Toast.Content className="flex items-start gap-2 py-2 pr-2 pl-3">
        <div className="min-w-0 grow py-1">
          <Toast.Title className="text-sm font-medium" />
          <Toast.Description className="text-xs break-words text-ink-soft" />
        </div>
        <Toast.Close render={<IconButton icon="close" label="Dismiss" />} />
      </Toast.Content>
    </Toast.Root>
  ))
}
