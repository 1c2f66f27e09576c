import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { describeFailure } from '../../api/api-error.ts'
import { hasPasskeys, signInWithPasskey } from '../../api/passkeys.ts'
import { handleSessionChange } from '../../api/session-signals.ts'
import { signInMethodsQuery, signInWithCode, signInWithKey } from '../../api/sessions.ts'
import { Entrance } from '../../shell/entrance.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { Button, buttonClass } from '../../ui/forms/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { KeyForm } from './key-form.tsx'
import { ownPath } from './own-path.ts'
import { describeProblem } from './sign-in-problems.ts'

const route = getRouteApi('/sign-in')

type Way = 'passkey' | 'key' | 'link'

const METHODS_UNKNOWN = 'Other ways to sign in could not be loaded. Load this page again to see them.'

/** All ways in: the directories of the company, a passkey, an API key, or the one-time code of a link. */
export function SignInPage() {
  const { next, problem } = route.useSearch()
  const router = useRouter()
  const queryClient = useQueryClient()
  const methods = useQuery(signInMethodsQuery)
  const [failure, setFailure] = useState<{ way: Way; message: string } | null>(null)
  const [busyWay, setBusyWay] = useState<Way | null>(null)

  const attempt = async (way: Way, signIn: () => Promise<void>): Promise<void> => {
    setBusyWay(way)
    setFailure(null)
    try {
      await signIn()
      queryClient.clear()
      router.history.replace(ownPath(next))
    } catch (error) {
      setFailure({ way, message: describeFailure(error).message })
      setBusyWay(null)
    }
  }
  useEffect(() => {
    document.title = 'Sign in · Parkway'
  }, [])
  // A tab that waits here goes on when the person signs in with another one.
  useEffect(
    () =>
      handleSessionChange((change) => {
        if (change === 'in') location.replace(ownPath(next))
      }),
    [next],
  )
  useCodeOfLink((code) => void attempt('link', () => signInWithCode(code)))

  const providers = methods.data?.providers ?? []
  const takesPasskeys = methods.data?.passkeys === true && hasPasskeys()
  const hasOthers = providers.length > 0 || takesPasskeys
  const keyFailure = failure?.way === 'key' ? failure.message : null
  const told = failure !== null && failure.way !== 'key' ? failure.message : describeProblem(problem)
  const notice = told ?? (methods.isError ? METHODS_UNKNOWN : null)
  return (
    <Entrance title="Sign in to Parkway">
      {notice !== null && <Notice message={notice} />}
      {methods.isPending ? (
        <SkeletonRows count={3} />
      ) : (
        <div className="flex flex-col gap-3">
          {providers.map(({ id, name, url }) => (
            <a key={id} href={withReturn(url, next)} className={`${buttonClass('primary')} h-10 w-full`}>
              <Icon name="shield" />
              <span className="truncate" title={name}>
                Continue with {name}
              </span>
            </a>
          ))}
          {takesPasskeys && (
            <Button
              kind={providers.length === 0 ? 'primary' : 'plain'}
              icon="passkey"
              className="h-10 w-full"
              isBusy={busyWay === 'passkey'}
              onClick={() => void attempt('passkey', signInWithPasskey)}
            >
              Continue with a passkey
            </Button>
          )}
          {hasOthers && <Separator />}
          <KeyForm
            isFolded={providers.length > 0}
            isMain={!hasOthers}
            isBusy={busyWay === 'key' || busyWay === 'link'}
            failure={keyFailure}
            onSubmit={(key) => void attempt('key', () => signInWithKey(key))}
          />
        </div>
      )}
      <p className="mt-6 text-xs text-ink-faint">
        {describeBeginning(providers.length > 0, takesPasskeys)}{' '}
        <a href="/docs" className="whitespace-nowrap text-accent underline">
          API reference
        </a>
      </p>
    </Entrance>
  )
}

function describeBeginning(hasProviders: boolean, takesPasskeys: boolean): string {
  if (hasProviders)
    return 'New here? Begin with your company’s sign-in. If no account is open to you, ask your administrator for an invitation.'
  return takesPasskeys
    ? 'New here? Whoever manages your account invites you: the link in the invitation makes your passkey.'
    : 'No key yet? The first start of the gateway prints one, and a link that signs you in. Otherwise ask whoever runs this gateway.'
}

function Notice({ message }: { readonly message: string }) {
  return (
    <div
      role="alert"
      className="mb-4 flex gap-2.5 rounded-md border border-line bg-bad-soft px-3 py-2.5 text-sm"
    >
      <Icon name="warn" className="mt-0.5 text-bad" />
      <p className="min-w-0">{message}</p>
    </div>
  )
}

function Separator() {
  return (
    <div aria-hidden="true" className="my-1 flex items-center gap-3 text-xs text-ink-faint">
      <span className="h-px grow bg-line" />
      or
      <span className="h-px grow bg-line" />
    </div>
  )
}

function withReturn(url: string, next: string | undefined): string {
  return `${url}?return_to=${encodeURIComponent(ownPath(next))}`
}

/** Takes the code out of the address, so that it stays neither in the history nor in a bookmark. Also of a link that is pasted into this tab. */
function useCodeOfLink(onCode: (code: string) => void): void {
  const latest = useRef(onCode)
  useEffect(() => {
    latest.current = onCode
  })
  useEffect(() => {
    const take = (): void => {
      const code = new URLSearchParams(location.hash.slice(1)).get('code')
      if (code === null) return
      history.replaceState(history.state, '', location.pathname + location.search)
      latest.current(code)
    }
    take()
    window.addEventListener('hashchange', take)
    return () => window.removeEventListener('hashchange', take)
  }, [])
}
