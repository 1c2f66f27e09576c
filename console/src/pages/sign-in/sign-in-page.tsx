import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { useEffect, useRef, useState, type FormEvent } from 'react'
import { describeFailure } from '../../api/api-error.ts'
import { handleSessionChange } from '../../api/session-signals.ts'
import { signInWithCode, signInWithKey } from '../../api/sessions.ts'
import { Button } from '../../ui/forms/button.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { ownPath } from './own-path.ts'

const route = getRouteApi('/sign-in')

/** Signs a person in with an API key, or with the one-time code of the link that the first start prints. */
export function SignInPage() {
  const { next } = route.useSearch()
  const router = useRouter()
  const queryClient = useQueryClient()
  const [apiKey, setApiKey] = useState('')
  const [failure, setFailure] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)

  const attempt = async (signIn: Promise<void>): Promise<void> => {
    setIsBusy(true)
    setFailure(null)
    try {
      await signIn
      queryClient.clear()
      router.history.replace(ownPath(next))
    } catch (error) {
      setFailure(describeFailure(error).message)
      setIsBusy(false)
    }
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    void attempt(signInWithKey(apiKey.trim()))
  }
  // A tab that waits here goes on when the person signs in with another one.
  useEffect(
    () =>
      handleSessionChange((change) => {
        if (change === 'in') location.replace(ownPath(next))
      }),
    [next],
  )
  useCodeOfLink((code) => void attempt(signInWithCode(code)))

  return (
    <main className="flex min-h-full items-center justify-center px-4 py-12">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex items-center gap-2.5">
          <img src="/favicon.svg" alt="" className="size-7" />
          <h1 className="text-xl font-semibold tracking-tight">Sign in to Parkway</h1>
        </div>
        <form onSubmit={submit} className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-6">
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
          <Button kind="primary" type="submit" isBusy={isBusy} disabled={apiKey.trim() === ''}>
            Sign in
          </Button>
        </form>
        <p className="mt-4 text-xs text-ink-faint">
          No key yet? The first start of the gateway prints one, and a link that signs you in. Otherwise ask
          whoever runs this gateway.{' '}
          <a href="/docs" className="text-accent underline">
            API reference
          </a>
        </p>
      </div>
    </main>
  )
}

/** Takes the code out of the address, so that it stays neither in the history nor in a bookmark. */
function useCodeOfLink(onCode: (code: string) => void): void {
  const isTaken = useRef(false)
  useEffect(() => {
    const code = new URLSearchParams(location.hash.slice(1)).get('code')
    if (code === null || isTaken.current) return
    isTaken.current = true
    history.replaceState(history.state, '', location.pathname + location.search)
    onCode(code)
  }, [onCode])
}
