import { useMutation } from '@tanstack/react-query'
import { useEffect, useState, type FormEvent } from 'react'
import { describeFailure } from '../../api/api-error.ts'
import { acceptInvitation } from '../../api/sessions.ts'
import { Button, buttonClass } from '../../ui/forms/button.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'

/** Joins an account by the link of an invitation. Opening the link uses nothing up: only the button does. */
export function AcceptInvitePage() {
  const [code] = useState(() => new URLSearchParams(location.hash.slice(1)).get('code') ?? '')
  const [name, setName] = useState('')
  const joining = useMutation({
    mutationFn: () => acceptInvitation(code, name.trim()),
    // A new page, so that nothing of another session stays.
    onSuccess: () => location.replace('/'),
  })
  useEffect(() => {
    document.title = 'Accept an invitation · Parkway'
  }, [])
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    joining.mutate()
  }
  return (
    <main className="flex min-h-full items-center justify-center px-4 py-12">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex items-center gap-2.5">
          <img src="/favicon.svg" alt="" className="size-7" />
          <h1 className="text-xl font-semibold tracking-tight">Join on Parkway</h1>
        </div>
        {code === '' ? (
          <div className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-6 text-sm">
            <p>
              This link is not complete: the part after <code>#code=</code> is missing. Open it again from the
              message that you got, or ask for another invitation.
            </p>
            <a href="/sign-in" className={buttonClass()}>
              Sign in with a key
            </a>
          </div>
        ) : (
          <form
            onSubmit={submit}
            className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-6"
          >
            <p className="text-sm text-ink-soft">
              You were invited to an account of this gateway. Joining signs you in here, and the link works
              only once.
            </p>
            <TextField
              label="Your name"
              name="name"
              autoComplete="name"
              autoFocus
              maxLength={200}
              value={name}
              onChange={setName}
              hint="The other members of the account see it."
              error={joining.error && describeFailure(joining.error).message}
            />
            <Button kind="primary" type="submit" isBusy={joining.isPending || joining.isSuccess}>
              Join
            </Button>
          </form>
        )}
        <p className="mt-4 text-xs text-ink-faint">
          After joining, make a key of your own under <em>Keys</em>: it signs you in again later.
        </p>
      </div>
    </main>
  )
}
