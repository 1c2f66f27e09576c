import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useState, type FormEvent } from 'react'
import { describeFailure } from '../../api/api-error.ts'
import { hasPasskeys, makePasskeyForLink } from '../../api/passkeys.ts'
import { acceptInvitation, linkQuery, signInMethodsQuery } from '../../api/sessions.ts'
import { Entrance } from '../../shell/entrance.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { Button, buttonClass } from '../../ui/forms/button.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { Icon } from '../../ui/icon.tsx'

/** Comes in by the link of an invitation or of a recovery. Opening the link uses nothing up: only the buttons do. */
export function AcceptInvitePage() {
  const code = useCodeOfLink()
  const link = useQuery({ ...linkQuery(code), enabled: code !== '' })
  const isRecovery = link.data?.kind === 'recovery'
  const title = link.data
    ? isRecovery
      ? `Back into ${link.data.account_name}`
      : `Join ${link.data.account_name}`
    : 'Your invitation'
  useEffect(() => {
    document.title = `${title} · Parkway`
  }, [title])
  return (
    <Entrance title={title}>
      {code === '' ? (
        <Unusable>
          This link is not complete: the part after <code>#code=</code> is missing. Open it again from the
          message that you got, or ask for another one.
        </Unusable>
      ) : link.isPending ? (
        <SkeletonRows count={4} />
      ) : link.error ? (
        <Unusable>{describeFailure(link.error).message}</Unusable>
      ) : (
        <JoinForm
          key={code}
          code={code}
          email={link.data.email}
          knownName={link.data.name}
          isRecovery={isRecovery}
        />
      )}
    </Entrance>
  )
}

/** Takes the code out of the address, so that it stays neither in the history nor in a bookmark. Also of a link that is pasted into this tab. */
function useCodeOfLink(): string {
  const [code, setCode] = useState(codeInAddress)
  useEffect(() => {
    const take = (): void => {
      const found = codeInAddress()
      if (found === '') return
      setCode(found)
      history.replaceState(history.state, '', location.pathname)
    }
    take()
    window.addEventListener('hashchange', take)
    return () => window.removeEventListener('hashchange', take)
  }, [])
  return code
}

function codeInAddress(): string {
  return new URLSearchParams(location.hash.slice(1)).get('code') ?? ''
}

function Unusable({ children }: { readonly children: React.ReactNode }) {
  return (
    <div className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-5 text-sm">
      <p role="alert">{children}</p>
      <a href="/sign-in" className={buttonClass()}>
        Go to the sign-in page
      </a>
    </div>
  )
}

interface JoinFormProps {
  readonly code: string
  readonly email: string
  readonly knownName: string | null
  readonly isRecovery: boolean
}

function JoinForm({ code, email, knownName, isRecovery }: JoinFormProps) {
  const methods = useQuery(signInMethodsQuery)
  const [name, setName] = useState(knownName ?? '')
  const joining = useMutation({
    mutationFn: async (withPasskey: boolean) =>
      acceptInvitation({
        code,
        name: isRecovery ? '' : name.trim(),
        passkey: withPasskey ? await makePasskeyForLink(code) : null,
      }),
    // A new page, so that nothing of another session stays.
    onSuccess: () => location.replace('/'),
  })
  const takesPasskeys = methods.data?.passkeys === true && hasPasskeys()
  const isBusy = joining.isPending || joining.isSuccess
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    joining.mutate(takesPasskeys)
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-5">
      <p className="text-sm text-ink-soft">
        {isRecovery ? 'This link signs you in once, as ' : 'You are invited as '}
        <strong className="font-medium break-words text-ink">{email}</strong>.
      </p>
      {!isRecovery && (
        <TextField
          label="Your name"
          name="name"
          autoComplete="name"
          autoFocus
          maxLength={200}
          value={name}
          onChange={setName}
          hint="The other members of the account see it."
        />
      )}
      {takesPasskeys && <AboutPasskeys />}
      {joining.error && (
        <p role="alert" className="text-sm text-bad">
          {describeFailure(joining.error).message}
        </p>
      )}
      <Button
        kind="primary"
        type="submit"
        className="h-10 w-full"
        icon={takesPasskeys ? 'passkey' : undefined}
        isBusy={isBusy || methods.isPending}
      >
        {takesPasskeys ? 'Make a passkey and continue' : isRecovery ? 'Sign in' : 'Join'}
      </Button>
      {takesPasskeys && (
        <Button kind="quiet" className="w-full" disabled={isBusy} onClick={() => joining.mutate(false)}>
          Continue without a passkey
        </Button>
      )}
      {!takesPasskeys && !methods.isPending && (
        <p className="text-xs text-ink-faint">
          Passkeys do not work in this browser here. After joining, make a key of your own under <em>Keys</em>
          : it signs you in again later.
        </p>
      )}
    </form>
  )
}

function AboutPasskeys() {
  return (
    <div className="flex gap-2.5 rounded-md bg-sunken px-3 py-2.5 text-xs text-ink-soft">
      <Icon name="shield" className="mt-0.5 text-accent" />
      <p>
        A passkey signs you in with the fingerprint, the face or the PIN of your device. There is no password
        that somebody could steal.
      </p>
    </div>
  )
}
