import { useEffect, useState } from 'react'
import { TextArea } from '../../../ui/forms/text-area.tsx'

interface DraftAreaProps {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
  readonly isJson?: boolean | undefined
  readonly rows?: number | undefined
  readonly placeholder?: string | undefined
  readonly hint?: string | undefined
}

const PAUSE_MS = 300

/** A text that goes into the address a moment after the last key, and is replaced where the address gets another one. */
export function DraftArea({
  label,
  value = '',
  onChange,
  isJson,
  rows = 3,
  placeholder,
  hint,
}: DraftAreaProps) {
  const [draft, setDraft] = useState(value)
  const [known, setKnown] = useState(value)
  const [sent, setSent] = useState(value)
  if (value !== known) {
    setKnown(value)
    if (value !== sent) setDraft(value)
  }
  useEffect(() => {
    if (draft === value) return
    const timer = setTimeout(() => {
      setSent(draft)
      onChange(draft || undefined)
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [draft, value, onChange])
  return (
    <TextArea
      label={label}
      rows={rows}
      isCode={isJson}
      spellCheck={isJson !== true}
      value={draft}
      onChange={setDraft}
      placeholder={placeholder}
      hint={hint}
      error={isJson && draft.trim() !== '' && !isValidJson(draft) ? 'This is not valid JSON.' : null}
    />
  )
}

function isValidJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
