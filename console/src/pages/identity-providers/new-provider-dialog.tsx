import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { addProvider, type IdentityProvider } from '../../api/identity-providers.ts'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { ProviderFields } from './provider-fields.tsx'
import { EMPTY_FORM, settingsOf, type ProviderForm } from './provider-form.ts'
import { PROVIDER_TEMPLATES, type TemplateName } from './provider-templates.ts'

const KINDS = Object.entries(PROVIDER_TEMPLATES).map(([value, { label }]) => ({
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the table
  value: value as TemplateName,
  label,
}))

interface NewProviderDialogProps {
  readonly onClose: () => void
  readonly onAdded: (provider: IdentityProvider) => void
}

export function NewProviderDialog({ onClose, onAdded }: NewProviderDialogProps) {
  const queryClient = useQueryClient()
  const [kind, setKind] = useState<TemplateName>('keycloak')
  const [issuer, setIssuer] = useState('')
  const [form, setForm] = useState<ProviderForm>(EMPTY_FORM)
  const template = PROVIDER_TEMPLATES[kind]
  const choose = (name: TemplateName): void => {
    const { settings } = PROVIDER_TEMPLATES[name]
    setKind(name)
    if (name === 'google') setIssuer(PROVIDER_TEMPLATES.google.issuer)
    setForm({
      ...form,
      scopes: settings.scopes.join(' '),
      groupsClaim: settings.groups_claim ?? '',
      needsVerifiedEmail: settings.needs_verified_email,
    })
  }
  const addition = useMutation({
    mutationFn: () => addProvider({ ...settingsOf(form), issuer: issuer.trim() }),
    onSuccess: async (provider) => {
      await queryClient.invalidateQueries({ queryKey: ['identity-providers'] })
      onAdded(provider)
    },
  })
  return (
    <FormDialog
      title="Add an identity provider"
      action="Add the provider"
      work={addition}
      failure="The provider could not be added"
      onClose={onClose}
    >
      <SelectField label="Kind" value={kind} choices={KINDS} onChange={choose} hint={template.hint} />
      <div className="flex flex-col gap-1 rounded-md bg-sunken p-3 text-sm">
        <span className="text-ink-soft">Enter this redirect address at the provider first:</span>
        <CopyableId id={`${location.origin}/v1/sessions/directory/callback`} label="redirect address" />
      </div>
      <TextField
        label="Issuer"
        type="url"
        required
        placeholder={template.issuer}
        value={issuer}
        onChange={setIssuer}
      />
      <ProviderFields form={form} onChange={(change) => setForm({ ...form, ...change })} hasSecret={false} />
    </FormDialog>
  )
}
