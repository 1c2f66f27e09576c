import { useEffect, useId, useState, type KeyboardEvent } from 'react'
import { classNames } from '../class-names.ts'
import { Icon } from '../icon.tsx'
import { CONTROL_CLASS, Field } from './field.tsx'

export interface PickOption {
  readonly value: string
  readonly label: string
  /** Beside the label, such as an id. It is searched too. */
  readonly note?: string | undefined
}

interface PickFieldProps {
  readonly label: string
  /** Empty: none. */
  readonly value: string
  /** The name of the value. */
  readonly valueLabel?: string | undefined
  readonly options: readonly PickOption[]
  readonly isLoading?: boolean | undefined
  /** Called when the options are needed. */
  readonly onOpen?: (() => void) | undefined
  /** Called with what is written, a moment after the last key, where the API searches. */
  readonly onSearch?: ((words: string) => void) | undefined
  readonly onChange: (value: string) => void
  readonly className?: string | undefined
}

const SHOWN_MAX = 50
const PAUSE_MS = 250

/** A filter by one of many values, which are found by a part of their names. A value that is not among them can be written in full. */
export function PickField(props: PickFieldProps) {
  const {
    label,
    value,
    valueLabel,
    options,
    isLoading = false,
    onOpen,
    onSearch,
    onChange,
    className,
  } = props
  const listId = useId()
  /** Null while the list is closed. */
  const [words, setWords] = useState<string | null>(null)
  const [position, setPosition] = useState(0)
  useEffect(() => {
    if (words === null || onSearch === undefined) return
    const timer = setTimeout(() => onSearch(words.trim()), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [words, onSearch])
  const found = findOptions(options, words ?? '')
  const open = (): void => {
    setWords('')
    setPosition(0)
    onOpen?.()
  }
  const pick = (option: PickOption | undefined): void => {
    setWords(null)
    if (option !== undefined && option.value !== value) onChange(option.value)
  }
  const write = (text: string): void => {
    if (words === null) onOpen?.()
    setWords(text)
    setPosition(0)
    if (text === '' && value !== '') onChange('')
  }
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      if (words === null) open()
      else setPosition((old) => (old + step + found.length) % Math.max(1, found.length))
    } else if (event.key === 'Enter' && words !== null) {
      event.preventDefault()
      pick(found[position])
    } else if (event.key === 'Escape' && words !== null) {
      event.stopPropagation()
      setWords(null)
    }
  }
  return (
    <Field label={label} isLabelHidden className={className}>
      {(control) => (
        <span className="relative">
          <Icon
            name="search"
            className="pointer-events-none absolute inset-y-0 left-2 my-auto text-ink-faint"
          />
          <input
            type="search"
            role="combobox"
            autoComplete="off"
            {...control}
            aria-expanded={words !== null}
            aria-controls={listId}
            aria-activedescendant={words !== null && found[position] ? `${listId}-${position}` : undefined}
            placeholder={label}
            // The chosen value stays until something else is written.
            value={words || (valueLabel ?? value)}
            onFocus={(event) => event.target.select()}
            onClick={() => words === null && open()}
            onChange={(event) => write(event.target.value)}
            onBlur={() => setWords(null)}
            onKeyDown={onKey}
            className={classNames(CONTROL_CLASS, 'h-8 pl-8 max-sm:h-10')}
          />
          {words !== null && (
            <ul
              id={listId}
              role="listbox"
              aria-label={label}
              // The field keeps the focus.
              onMouseDown={(event) => event.preventDefault()}
              className="absolute top-full left-0 z-30 mt-1 max-h-72 w-max max-w-[min(28rem,90vw)] min-w-full overflow-y-auto rounded-lg border border-line bg-surface p-1 shadow-float"
            >
              {found.map((option, index) => (
                <li
                  key={option.value}
                  id={`${listId}-${index}`}
                  role="option"
                  aria-selected={index === position}
                  onClick={() => pick(option)}
                  onMouseMove={() => setPosition(index)}
                  className={classNames(
                    'flex h-8 cursor-pointer items-center gap-3 rounded-md px-2 text-sm',
                    index === position && 'bg-hover',
                  )}
                >
                  <span className="truncate">{option.label}</span>
                  {option.note && (
                    <span className="ml-auto truncate text-xs text-ink-soft">{option.note}</span>
                  )}
                </li>
              ))}
              {found.length === 0 && (
                <li role="presentation" className="px-2 py-1.5 text-sm text-ink-faint">
                  {isLoading ? 'Loading…' : 'Nothing has this name.'}
                </li>
              )}
            </ul>
          )}
        </span>
      )}
    </Field>
  )
}

/** Those whose name or note has the words in it. Last what is written itself, for values that are not listed. */
function findOptions(options: readonly PickOption[], written: string): readonly PickOption[] {
  const words = written.trim()
  if (words === '') return options.slice(0, SHOWN_MAX)
  const lower = words.toLowerCase()
  const found = options.filter(({ value, label, note = '' }) =>
    `${label}\n${value}\n${note}`.toLowerCase().includes(lower),
  )
  const exact = options.filter(({ value, label }) => value === words || label.toLowerCase() === lower)
  const others = found.filter((option) => !exact.includes(option)).slice(0, SHOWN_MAX)
  const asWritten = exact.length > 0 ? [] : [{ value: words, label: `Exactly “${words}”` }]
  return [...exact, ...others, ...asWritten]
}
