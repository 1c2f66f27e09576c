import { Tabs as Base } from '@base-ui/react/tabs'
import { useEffect, useRef, type ReactNode } from 'react'

interface TabsProps<Value extends string> {
  readonly label: string
  readonly value: Value
  readonly tabs: readonly { readonly value: Value; readonly label: string }[]
  readonly onChange: (value: Value) => void
  /** The content of the chosen tab. */
  readonly children: ReactNode
}

export function Tabs<Value extends string>({ label, value, tabs, onChange, children }: TabsProps<Value>) {
  const list = useRef<HTMLDivElement>(null)
  // On a phone the chosen tab may be outside of what is seen.
  useEffect(() => {
    const chosen = list.current?.querySelector(`[data-value="${value}"]`)
    chosen?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [value])
  return (
    <Base.Root
      value={value}
      onValueChange={(chosen) => {
        const tab = tabs.find((one) => one.value === chosen)
        if (tab) onChange(tab.value)
      }}
      className="flex min-w-0 flex-col gap-4"
    >
      <Base.List ref={list} aria-label={label} className="flex gap-1 overflow-x-auto border-b border-line">
        {tabs.map((tab) => (
          <Base.Tab
            key={tab.value}
            value={tab.value}
            data-value={tab.value}
            className="h-9 border-b-2 border-transparent px-3 text-sm whitespace-nowrap text-ink-soft -outline-offset-2 hover:text-ink data-active:border-accent data-active:font-medium data-active:text-ink"
          >
            {tab.label}
          </Base.Tab>
        ))}
      </Base.List>
      <Base.Panel value={value} className="min-w-0" tabIndex={-1}>
        {children}
      </Base.Panel>
    </Base.Root>
  )
}
