import { useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState, type FormEvent } from 'react'
import { describeFailure } from '../../api/api-error.ts'
import { findDevice, type DeviceAuthorization } from '../../api/grants.ts'
import { ConnectedTools } from '../../keys/connected-tools.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { DecideDevice } from './decide-device.tsx'

const route = getRouteApi('/shell/device')

/** Signs a tool in by its code. A link with a code only fills the field: whoever sent it must not sign a tool of theirs in. */
export function DevicePage() {
  const { user_code: linkedCode } = route.useSearch()
  const [found, setFound] = useState<DeviceAuthorization | null>(null)
  return (
    <Page>
      <PageHeader
        title="Sign in a tool"
        description="A command line, an editor or an agent shows you a code. Enter it here to let the tool work for you."
      />
      <div className="grid max-w-4xl gap-6">
        {found === null ? (
          <FindDevice linkedCode={linkedCode ?? ''} onFound={setFound} />
        ) : (
          <DecideDevice device={found} onAgain={() => setFound(null)} />
        )}
        <ConnectedTools />
      </div>
    </Page>
  )
}

interface FindDeviceProps {
  readonly linkedCode: string
  readonly onFound: (device: DeviceAuthorization) => void
}

function FindDevice({ linkedCode, onFound }: FindDeviceProps) {
  const [code, setCode] = useState(linkedCode)
  const finding = useMutation({ mutationFn: () => findDevice(code), onSuccess: onFound })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    finding.mutate()
  }
  return (
    <Section>
      <form onSubmit={submit} className="flex max-w-sm flex-col gap-4">
        <TextField
          label="Code"
          name="user_code"
          autoFocus
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          required
          maxLength={40}
          placeholder="BCDF-GHJK"
          value={code}
          onChange={setCode}
          hint="Enter a code only if you started the sign-in yourself, a moment ago."
          error={finding.error && describeFailure(finding.error).message}
        />
        <Button kind="primary" type="submit" isBusy={finding.isPending} className="self-start">
          Continue
        </Button>
      </form>
    </Section>
  )
}
