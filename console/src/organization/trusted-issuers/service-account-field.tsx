import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { describeFailure } from '../../api/api-error.ts'
import { createKeylessServiceAccount, serviceAccountsQuery } from '../../api/projects.ts'
import { Button } from '../../ui/forms/button.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'

interface ServiceAccountFieldProps {
  readonly projectId: string
  readonly value: string
  readonly onChange: (id: string) => void
}

const NEW = 'new'

/** Chooses a service account of the project, or makes one that has no key. */
export function ServiceAccountField({ projectId, value, onChange }: ServiceAccountFieldProps) {
  const queryClient = useQueryClient()
  const accounts = useInfiniteQuery(serviceAccountsQuery(projectId))
  const known = accounts.data?.pages.flatMap(({ data }) => data) ?? []
  const isUnknown = value !== '' && accounts.isSuccess && !known.some(({ id }) => id === value)
  const [isMaking, setIsMaking] = useState(false)
  const [name, setName] = useState('')
  const field = useRef<HTMLDivElement>(null)
  const making = useMutation({
    mutationFn: () => createKeylessServiceAccount(projectId, name.trim()),
    onSuccess: async ({ id }) => {
      await queryClient.invalidateQueries({ queryKey: ['projects', projectId, 'service-accounts'] })
      setIsMaking(false)
      setName('')
      onChange(id)
      // The button that had the focus is gone.
      field.current?.querySelector('select')?.focus()
    },
  })
  return (
    <div ref={field} className="flex flex-col gap-3">
      <SelectField
        label="Becomes the service account"
        value={isMaking ? NEW : value}
        choices={[
          { value: '', label: 'Choose a service account' },
          ...known.map(({ id, name: called, role }) => ({ value: id, label: `${called} (${role})` })),
          ...(isUnknown ? [{ value, label: 'A service account that is deleted' }] : []),
          { value: NEW, label: 'Make a new one…' },
        ]}
        onChange={(chosen) => {
          setIsMaking(chosen === NEW)
          if (chosen !== NEW) onChange(chosen)
        }}
      />
      {isMaking && (
        <div className="flex items-end gap-2">
          <TextField
            label="Name of the new service account"
            className="grow"
            autoFocus
            maxLength={200}
            value={name}
            error={making.error && describeFailure(making.error).message}
            onChange={setName}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return
              // Enter would send the form around it.
              event.preventDefault()
              if (name.trim() !== '') making.mutate()
            }}
          />
          <Button isBusy={making.isPending} disabled={name.trim() === ''} onClick={() => making.mutate()}>
            Make it
          </Button>
        </div>
      )}
    </div>
  )
}
