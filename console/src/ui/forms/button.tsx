import type { ComponentPropsWithRef, ReactNode } from 'react'
import { classNames } from '../class-names.ts'
import { Icon, type IconName } from '../icon.tsx'

type Kind = 'primary' | 'plain' | 'quiet' | 'danger'

interface ButtonProps extends ComponentPropsWithRef<'button'> {
  readonly kind?: Kind
  readonly icon?: IconName | undefined
  /** Shows that the action runs, and prevents a second one. */
  readonly isBusy?: boolean | undefined
  readonly children: ReactNode
}

const KINDS: Readonly<Record<Kind, string>> = {
  primary: 'bg-accent text-on-accent hover:bg-accent-strong border-transparent',
  plain: 'bg-surface text-ink border-line-strong hover:bg-hover',
  quiet: 'border-transparent text-ink-soft hover:bg-hover hover:text-ink',
  danger: 'bg-surface text-bad border-line-strong hover:bg-bad-soft',
}

const SHAPE =
  'inline-flex h-8 items-center justify-center gap-2 rounded-md border px-3 text-sm font-medium whitespace-nowrap select-none transition-colors disabled:opacity-50 max-sm:h-10'

/** The look of a button, also for links that look like one. */
export function buttonClass(kind: Kind = 'plain'): string {
  return classNames(SHAPE, KINDS[kind])
}

export function Button({ kind = 'plain', icon, isBusy = false, children, className, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled === true || isBusy}
      aria-busy={isBusy}
      className={classNames(buttonClass(kind), className)}
    >
      {isBusy ? <Spinner /> : icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

function Spinner() {
  return (
    <span
      aria-hidden="true"
      className="size-3.5 animate-spin rounded-full border-2 border-current border-t-transparent"
    />
  )
}
