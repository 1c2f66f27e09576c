import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { usePermissions } from '../../api/permissions.ts'
import { createLoggedDataset, type RequestFilters } from '../../api/requests.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { formatCountOf } from '../../ui/format/format-count.ts'
import { Button } from '../../ui/forms/button.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { showToast } from '../../ui/overlays/toasts.tsx'

interface LogDatasetProps {
  readonly filters: RequestFilters
}

const LIMIT_MAX = 500

/** Makes a dataset of the requests that are listed, for whoever may read their bodies. */
export function LogDataset({ filters }: LogDatasetProps) {
  const may = usePermissions()
  const [isOpen, setIsOpen] = useState(false)
  if (!may('bodies.read') || !may('compare.manage')) return null
  return (
    <>
      <Button icon="plus" onClick={() => setIsOpen(true)}>
        As a dataset
      </Button>
      {isOpen && <DatasetDialog filters={filters} onClose={() => setIsOpen(false)} />}
    </>
  )
}

function DatasetDialog({ filters, onClose }: LogDatasetProps & { readonly onClose: () => void }) {
  const queryClient = useQueryClient()
  const [name, setName] = useState('Requests of the log')
  const [limit, setLimit] = useState('100')
  const count = Number(limit)
  const isValid = name.trim() !== '' && Number.isInteger(count) && count >= 1 && count <= LIMIT_MAX
  const make = useMutation({
    mutationFn: () => createLoggedDataset(name.trim(), filters, count),
    onSuccess: (dataset) => {
      void queryClient.invalidateQueries({ queryKey: ['compare', 'datasets'] })
      showToast(
        `The dataset “${dataset.name}” was made`,
        `${formatCountOf(dataset.prompts_total, 'prompt')}. A new run can take them.`,
      )
      onClose()
    },
  })
  return (
    <Dialog
      title="A dataset of real requests"
      description="It takes the prompts of the requests that the filters select, newest first and each once. Only requests whose bodies are stored have prompts. They stay in the dataset when the bodies expire."
      isOpen
      onClose={onClose}
      actions={
        <Button
          kind="primary"
          icon="plus"
          isBusy={make.isPending}
          disabled={!isValid}
          onClick={() => make.mutate()}
        >
          Make the dataset
        </Button>
      }
    >
      <TextField label="Name" value={name} onChange={setName} />
      <TextField
        label="Prompts at most"
        inputMode="numeric"
        value={limit}
        onChange={setLimit}
        hint={`From 1 to ${LIMIT_MAX}.`}
      />
      {make.error && <ErrorPanel title="No dataset was made" error={make.error} />}
    </Dialog>
  )
}
