import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { setAccountBudget } from '../../api/accounts.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'

interface BudgetDialogProps {
  readonly id: string
  readonly monthlyUsd: number | null
  readonly dailyUsd: number | null
  readonly onClose: () => void
}

/** What an account may spend in a month and on a day. Empty sets no limit. */
export function BudgetDialog({ id, monthlyUsd, dailyUsd, onClose }: BudgetDialogProps) {
  const queryClient = useQueryClient()
  const [monthly, setMonthly] = useState(textOf(monthlyUsd))
  const [daily, setDaily] = useState(textOf(dailyUsd))
  const update = useMutation({
    mutationFn: () => setAccountBudget(id, { monthly_usd: limitOf(monthly), daily_usd: limitOf(daily) }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['accounts'] })
      onClose()
    },
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    update.mutate()
  }
  const shared = { type: 'number', min: '0', step: 'any', placeholder: 'No limit' } as const
  return (
    <Dialog
      title="Set budgets"
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form="set-budget" isBusy={update.isPending}>
            Save budgets
          </Button>
        </>
      }
    >
      <form id="set-budget" onSubmit={submit} className="flex flex-col gap-4">
        <TextField label="A month, in USD" {...shared} value={monthly} onChange={setMonthly} />
        <TextField label="A day, in USD" {...shared} value={daily} onChange={setDaily} />
        {update.error && <ErrorPanel title="The budgets could not be set" error={update.error} />}
      </form>
    </Dialog>
  )
}

function textOf(limitUsd: number | null): string {
  return limitUsd === null ? '' : String(limitUsd)
}

function limitOf(text: string): number | null {
  return text === '' ? null : Number(text)
}
