import { useState, type FormEvent } from 'react'
import { Button } from '../../ui/forms/button.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'

interface KeyFormProps {
  /** Behind a button, where there are better ways. */
  readonly isFolded: boolean
  /** Whether there is no better way. */
  readonly isMain: boolean
  readonly isBusy: boolean
  readonly failure: string | null
  readonly onSubmit: (key: string) => void
}

/** Signs in with an API key, which is exchanged for a session. */
export function KeyForm({ isFolded, isMain, isBusy, failure, onSubmit }: KeyFormProps) {
  const [apiKey, setApiKey] = useState('')
  const [isOpened, setIsOpened] = useState(false)
  if (isFolded && !isOpened)
    return (
      <Button icon="key" kind="quiet" className="h-10 w-full" onClick={() => setIsOpened(true)}>
        Use an API key
      </Button>
    )
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    onSubmit(apiKey.trim())
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-5">
      <TextField
        label="API key"
        name="api_key"
        type="password"
        autoComplete="current-password"
        placeholder="pk-…"
        autoFocus
        required
        value={apiKey}
        onChange={setApiKey}
        error={failure}
        hint="It is exchanged for a session and not kept in this browser."
      />
      <Button
        kind={isMain ? 'primary' : 'plain'}
        type="submit"
        isBusy={isBusy}
        disabled={apiKey.trim() === ''}
      >
        Sign in
      </Button>
    </form>
  )
}
