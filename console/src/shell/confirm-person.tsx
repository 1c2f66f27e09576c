import { useMutation, useQuery } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { describeFailure } from '../api/api-error.ts'
import { confirmWithPasskey, hasPasskeys } from '../api/passkeys.ts'
import { confirmWithKey, currentSessionQuery } from '../api/sessions.ts'
import { SkeletonRows } from '../ui/feedback/skeleton.tsx'
import { Button, buttonClass } from '../ui/forms/button.tsx'
import { TextField } from '../ui/forms/text-field.tsx'
import { Dialog } from '../ui/overlays/dialog.tsx'

type Finish = (isConfirmed: boolean) => void

/** Offers the ways that the session has to prove who uses it. */
export function ConfirmPerson({ onFinish }: { readonly onFinish: Finish }) {
  const { data, isPending } = useQuery({ ...currentSessionQuery(''), staleTime: 0 })
  const methods = (data?.confirm_methods ?? []).filter(({ type }) => type !== 'passkey' || hasPasskeys())
  const directory = methods.find(({ type }) => type === 'directory')
  const takesPasskey = methods.some(({ type }) => type === 'passkey')
  const takesKey = methods.some(({ type }) => type === 'key')
  const hasOnlyKey = takesKey && methods.length === 1
  const [isEntering, setIsEntering] = useState(false)
  return (
    <Dialog
      title={hasOnlyKey ? 'Enter your API key again' : 'Prove that it is you'}
      isOpen
      onClose={() => onFinish(false)}
      description={
        hasOnlyKey
          ? 'This changes money or rights. Enter the key that you signed in with; it is not stored in the browser.'
          : 'This changes money or rights, and your last proof is older than 15 minutes.'
      }
    >
      {isPending ? (
        <SkeletonRows count={2} />
      ) : (
        <div className="flex flex-col gap-3">
          {takesPasskey && <PasskeyProof onFinish={onFinish} />}
          {directory && (
            <>
              <a
                href={`${directory.url}&return_to=${encodeURIComponent(location.pathname + location.search)}`}
                className={buttonClass(takesPasskey ? 'plain' : 'primary')}
              >
                Sign in at {directory.name} again
              </a>
              <p className="text-xs text-ink-faint">
                You will come back to this page. Then repeat the action.
              </p>
            </>
          )}
          {takesKey &&
            (hasOnlyKey || isEntering ? (
              <KeyProof onFinish={onFinish} />
            ) : (
              <Button kind="quiet" icon="key" onClick={() => setIsEntering(true)}>
                Enter an API key
              </Button>
            ))}
          {methods.length === 0 && (
            <p className="text-sm text-ink-soft">
              This session has no passkey, no directory and no key of its own to prove it with. Sign out and
              in again, and then add a passkey on your profile.
            </p>
          )}
        </div>
      )}
    </Dialog>
  )
}

function PasskeyProof({ onFinish }: { readonly onFinish: Finish }) {
  const proof = useMutation({ mutationFn: confirmWithPasskey, onSuccess: () => onFinish(true) })
  return (
    <>
      <Button kind="primary" icon="passkey" autoFocus isBusy={proof.isPending} onClick={() => proof.mutate()}>
        Use your passkey
      </Button>
      {proof.error && (
        <p role="alert" className="text-xs text-bad">
          {describeFailure(proof.error).message}
        </p>
      )}
    </>
  )
}

function KeyProof({ onFinish }: { readonly onFinish: Finish }) {
  const [apiKey, setApiKey] = useState('')
  const proof = useMutation({
    mutationFn: () => confirmWithKey(apiKey.trim()),
    onSuccess: () => onFinish(true),
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    proof.mutate()
  }
  return (
    <form className="flex flex-col gap-4" onSubmit={submit}>
      <TextField
        label="API key"
        type="password"
        autoComplete="current-password"
        value={apiKey}
        onChange={setApiKey}
        error={proof.error && describeFailure(proof.error).message}
      />
      <Button kind="primary" type="submit" isBusy={proof.isPending} disabled={apiKey.trim() === ''}>
        Confirm
      </Button>
    </form>
  )
}
