import type { ReactNode } from 'react'
import { classNames } from '../class-names.ts'

export type Tone = 'plain' | 'accent' | 'good' | 'warn' | 'bad'

const TONES: Readonly<Record<Tone, string>> = {
  plain: 'bg-sunken text-ink-soft',
  accent: 'bg-accent-soft text-accent',
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
}

/** A state or a property in a word. The word carries the meaning, the colour only helps. */
export function Badge({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return (
    <span
      className={classNames(
        'inline-flex h-5 items-center rounded px-1.5 text-2xs font-medium whitespace-nowrap',
        TONES[tone],
      )}
    >
      {children}
    </span>
  )
}
