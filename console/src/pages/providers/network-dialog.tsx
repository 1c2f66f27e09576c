import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { changeProvider, type ProviderPatch, type ProviderStatus } from '../../api/operator.ts'
import { TextArea } from '../../ui/forms/text-area.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'
import { showToast } from '../../ui/overlays/toasts.tsx'

interface NetworkDialogProps {
  readonly provider: ProviderStatus
  readonly onClose: () => void
}

/** How a provider is reached, and what its vendor promises. */
export function NetworkDialog({ provider, onClose }: NetworkDialogProps) {
  const queryClient = useQueryClient()
  const [proxy, setProxy] = useState(provider.proxy?.url ?? '')
  const [username, setUsername] = useState(provider.proxy?.username ?? '')
  const [password, setPassword] = useState('')
  const [authority, setAuthority] = useState(provider.certificate_authority ?? '')
  const [regions, setRegions] = useState(provider.regions.join(', '))
  const [retention, setRetention] = useState(String(provider.retention_days ?? ''))
  const change = useMutation({
    mutationFn: () =>
      changeProvider(provider.id, {
        proxy: readProxy({ url: proxy.trim(), username: username.trim(), password }),
        certificate_authority: authority.trim() === '' ? null : authority.trim(),
        regions: regions.split(',').flatMap((region) => region.trim() || []),
        retention_days: retention.trim() === '' ? null : Number(retention),
      }),
    onSuccess: async () => {
      await queryClient.invalidateQueries()
      showToast('The network of the provider is changed', provider.id)
      onClose()
    },
  })
  return (
    <FormDialog
      title={`Network of ${provider.id}`}
      action="Use it"
      work={change}
      failure="The network could not be changed"
      onClose={onClose}
    >
      <TextField
        label="Proxy"
        type="url"
        maxLength={500}
        placeholder="http://proxy.example.com:3128"
        hint="All hosts of the provider are reached through it. Empty: directly."
        value={proxy}
        onChange={setProxy}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label="User of the proxy" maxLength={256} value={username} onChange={setUsername} />
        <TextField
          label="Password of the proxy"
          type="password"
          autoComplete="off"
          data-1p-ignore
          maxLength={1024}
          hint={
            provider.proxy?.has_password === true
              ? 'Empty: the stored one stays.'
              : 'It is stored encrypted and never shown again.'
          }
          value={password}
          onChange={setPassword}
        />
      </div>
      <TextArea
        label="Certificate authority"
        isCode
        maxLength={65_536}
        spellCheck={false}
        placeholder="-----BEGIN CERTIFICATE-----"
        hint="Certificates in PEM, or file:/run/secrets/ca.pem. Trusted besides the usual ones."
        value={authority}
        onChange={setAuthority}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Regions that the vendor promises"
          placeholder="eu-central-1, eu-west-1"
          value={regions}
          onChange={setRegions}
        />
        <TextField
          label="Retention that the vendor promises, in days"
          type="number"
          min={0}
          max={36_500}
          hint="0: nothing is kept. Empty: nothing is promised."
          value={retention}
          onChange={setRetention}
        />
      </div>
    </FormDialog>
  )
}

function readProxy({
  url,
  username,
  password,
}: {
  readonly url: string
  readonly username: string
  readonly password: string
}): Exclude<ProviderPatch['proxy'], undefined> {
  if (url === '') return null
  return { url, username: username === '' ? null : username, ...(password === '' ? {} : { password }) }
}
