import { Menu as Base } from '@base-ui/react/menu'
import type { ReactElement, ReactNode } from 'react'
import { Icon, type IconName } from '../icon.tsx'

interface MenuProps {
  /** The button that opens the menu. */
  readonly trigger: ReactElement<Record<string, unknown>>
  readonly isOpenAtFirst?: boolean | undefined
  readonly children: ReactNode
}

/** A few actions behind a button. */
export function Menu({ trigger, isOpenAtFirst = false, children }: MenuProps) {
  return (
    <Base.Root defaultOpen={isOpenAtFirst}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner sideOffset={4} align="end" className="z-50">
          <Base.Popup className="min-w-44 rounded-lg border border-line bg-surface p-1 text-sm shadow-float outline-none">
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

interface MenuItemProps {
  readonly icon?: IconName | undefined
  readonly onSelect: () => void
  readonly isDangerous?: boolean | undefined
  readonly children: ReactNode
}

export function MenuItem({ icon, onSelect, isDangerous, children }: MenuItemProps) {
  return (
    <Base.Item
      onClick={onSelect}
      className={`flex h-8 items-center gap-2 rounded-md px-2 outline-none data-highlighted:bg-hover max-sm:h-10 ${isDangerous ? 'text-bad' : ''}`}
    >
      {icon && <Icon name={icon} className="text-ink-faint" />}
      {children}
    </Base.Item>
  )
}

interface MenuCheckProps {
  readonly isChecked: boolean
  readonly onChange: () => void
  readonly children: ReactNode
}

/** One of several things that can be chosen together. The menu stays open. */
export function MenuCheck({ isChecked, onChange, children }: MenuCheckProps) {
  return (
    <Base.CheckboxItem
      checked={isChecked}
      onCheckedChange={onChange}
      closeOnClick={false}
      className="flex h-8 items-center gap-2 rounded-md px-2 outline-none data-highlighted:bg-hover max-sm:h-10"
    >
      <span className="size-4">{isChecked && <Icon name="check" className="text-accent" />}</span>
      {children}
    </Base.CheckboxItem>
  )
}

export function MenuLine() {
  return <Base.Separator className="my-1 h-px bg-line" />
}
