import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { approveDevice, denyDevice, type DeviceAuthorization } from '../../api/grants.ts'
import { currentSessionQuery } from '../../api/sessions.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { DetailsList } from '../../ui/text/details-list.tsx'
import { Time } from '../../ui/text/time.tsx'

const WHOLE_ACCOUNT = 'account'

interface DecideDeviceProps {
  readonly device: DeviceAuthorization
  /** Goes back to the code. */
  readonly onAgain: () => void
}

/** Shows which tool asks and from where, and asks whether the person started it, as RFC 8628 wants against phishing. */
export function DecideDevice({ device, onAgain }: DecideDeviceProps) {
  const queryClient = useQueryClient()
  const session = useQuery(currentSessionQuery(''))
  const [chosen, setChosen] = useState<string | null>(null)
  const place = chosen ?? session.data?.project?.id ?? WHOLE_ACCOUNT
  const approving = useMutation({
    mutationFn: () => approveDevice(device.user_code, place === WHOLE_ACCOUNT ? null : place),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['grants'] }),
  })
  const denying = useMutation({ mutationFn: () => denyDevice(device.user_code) })
  if (approving.isSuccess || denying.isSuccess)
    return (
      <Section title={approving.isSuccess ? 'The tool is signed in' : 'The tool was refused'}>
        <div className="flex flex-col items-start gap-4 text-sm">
          <p role="status">
            {approving.isSuccess
              ? `${device.client_id} continues by itself in a few seconds. You can close this page.`
              : 'It was told so. If you did not start the sign-in, nothing more is to be done.'}
          </p>
          <Button onClick={onAgain}>Enter another code</Button>
        </div>
      </Section>
    )
  return (
    <Section title="Did you start this?">
      <div className="flex max-w-2xl flex-col gap-4 text-sm">
        <p>
          A tool asks to work for you. Compare the code with the one on your device, and sign the tool in only
          if you started this yourself. Nobody who runs this gateway and no support team will ever ask you for
          a code.
        </p>
        {!device.is_same_address && (
          <p role="alert" className="rounded-md border border-line bg-warn-soft px-3 py-2 text-warn">
            The tool asks from a different address than yours. That is usual for a remote machine, and a
            warning if you did not expect it.
          </p>
        )}
        <DetailsList
          details={{
            Code: <code className="text-base font-semibold tracking-wider">{device.user_code}</code>,
            Tool: `${device.client_id} (as it calls itself)`,
            Address: device.ip_address,
            Program: device.user_agent === '' ? null : device.user_agent,
            Asked: <Time at={device.created_at} />,
            Account: session.data?.account.name ?? null,
            'Works for': session.data?.user?.email ?? null,
          }}
        />
        {session.data && (
          <SelectField
            label="Where it works"
            className="max-w-sm"
            value={place}
            choices={[
              ...session.data.projects.map(({ id, name }) => ({ value: id, label: name })),
              ...(session.data.can_see_account ? [{ value: WHOLE_ACCOUNT, label: 'Whole account' }] : []),
            ]}
            onChange={setChosen}
          />
        )}
        <p className="text-ink-soft">
          It uses models and reads what you may read, until you sign it out or it is not used for 30 days. It
          makes no keys, gives no rights and moves no money.
        </p>
        {(approving.error ?? denying.error) && (
          <ErrorPanel title="That did not work" error={approving.error ?? denying.error} />
        )}
        <div className="flex flex-wrap gap-2">
          <Button
            kind="primary"
            isBusy={approving.isPending}
            disabled={session.data === undefined || denying.isPending}
            onClick={() => approving.mutate()}
          >
            Yes, sign it in
          </Button>
          <Button
            kind="danger"
            isBusy={denying.isPending}
            disabled={approving.isPending}
            onClick={() => denying.mutate()}
          >
            No, refuse it
          </Button>
        </div>
      </div>
    </Section>
  )
}
