import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { addProvider, tryProvider, type ProviderDraft, type Vendor } from '../../api/operator.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'
import { showToast } from '../../ui/overlays/toasts.tsx'
import { KeyField } from './key-field.tsx'
import { readKey } from './read-key.ts'
import { TestResult } from './test-result.tsx'

interface AddProviderDialogProps {
  readonly vendors: readonly Vendor[]
  /** The names of the providers that there are. */
  readonly taken: readonly string[]
  /** What ends when this is the first one. */
  readonly ends: readonly string[]
  readonly onClose: () => void
}

const OWN = 'own server'

/** A vendor and its key, with a test call before it is saved. */
export function AddProviderDialog({ vendors, taken, ends, onClose }: AddProviderDialogProps) {
  const queryClient = useQueryClient()
  const [vendorId, setVendorId] = useState(vendors[0]?.id ?? OWN)
  const [ownName, setOwnName] = useState<string | null>(null)
  const [key, setKey] = useState('')
  const [address, setAddress] = useState('')
  const [model, setModel] = useState('')
  const vendor = vendors.find(({ id }) => id === vendorId)
  const isOwn = vendor === undefined
  const name = ownName ?? (isOwn ? '' : nameFor(vendorId, taken))
  const needsAddress = isOwn || vendor.needs_base_url
  const draft: ProviderDraft = {
    name,
    vendor: isOwn ? null : vendorId,
    ...(address.trim() === '' ? {} : { base_url: address.trim() }),
    ...(key.trim() === '' ? {} : readKey(key)),
  }
  const isIncomplete =
    name === '' ||
    (needsAddress && address.trim() === '') ||
    (vendor?.needs_key === true && key.trim() === '')
  const test = useMutation({
    mutationFn: () =>
      tryProvider({ ...draft, ...(model.trim() === '' ? {} : { upstream_model: model.trim() }) }),
  })
  const addition = useMutation({
    mutationFn: () => addProvider(draft),
    onSuccess: async () => {
      await queryClient.invalidateQueries()
      showToast('The provider is added', `${name} answers requests from now on.`)
      onClose()
    },
  })
  return (
    <FormDialog
      title="Add a provider"
      action="Add it"
      work={addition}
      failure="The provider could not be added"
      isIncomplete={isIncomplete}
      onClose={onClose}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label="Vendor"
          value={vendorId}
          choices={[
            ...vendors.map(({ id }) => ({ value: id, label: id })),
            { value: OWN, label: 'A server of your own' },
          ]}
          onChange={(chosen) => {
            setVendorId(chosen)
            setOwnName(null)
            test.reset()
          }}
        />
        <TextField
          label="Name"
          required
          maxLength={64}
          pattern="[a-z0-9][a-z0-9._\-]*"
          placeholder="basement"
          value={name}
          onChange={setOwnName}
        />
      </div>
      <KeyField label="Key" value={key} onChange={setKey} required={vendor?.needs_key === true} />
      <TextField
        label={needsAddress ? 'Address' : 'Address, if not the usual one'}
        type="url"
        required={needsAddress}
        maxLength={500}
        placeholder={vendor?.default_base_url ?? 'http://10.0.0.7:8000/v1'}
        value={address}
        onChange={setAddress}
      />
      {needsAddress && (
        <TextField
          label="Model for the test"
          maxLength={256}
          hint="The name of a chat model there. It is needed where no model of the catalog has a route to this server."
          value={model}
          onChange={setModel}
        />
      )}
      {ends.length > 0 && (
        <div role="note" className="flex flex-col gap-1 rounded-md bg-warn-soft p-3 text-sm">
          <p className="font-medium">With the first provider</p>
          <ul className="list-disc pl-4">
            {ends.map((end) => (
              <li key={end}>{end}</li>
            ))}
          </ul>
        </div>
      )}
      <div className="flex items-center justify-between gap-3 border-t border-line pt-4">
        <p className="text-sm text-ink-soft">The smallest real request. Nothing is saved by it.</p>
        <Button icon="bolt" isBusy={test.isPending} disabled={isIncomplete} onClick={() => test.mutate()}>
          Test call
        </Button>
      </div>
      {test.error && <ErrorPanel title="The test could not be made" error={test.error} />}
      {test.data && (
        <div role="status">
          <TestResult test={test.data} />
        </div>
      )}
    </FormDialog>
  )
}

/** A second provider of a vendor needs a name of its own. */
function nameFor(vendor: string, taken: readonly string[]): string {
  if (!taken.includes(vendor)) return vendor
  for (let number = 2; ; number += 1) if (!taken.includes(`${vendor}-${number}`)) return `${vendor}-${number}`
}
