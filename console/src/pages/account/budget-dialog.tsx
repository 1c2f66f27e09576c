import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { setAccountBudget } from '../../api/accounts.ts'
import { TextField } from '../../ui/forms/text-field.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'

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
  const shared = { type: 'number', min: '0', step: 'any', placeholder: 'No limit' } as const
  return (
    <FormDialog
      title="Set budgets"
      action="Save budgets"
      work={update}
      failure="The budgets could not be set"
      onClose={onClose}
    >
      <TextField label="A month, in USD" {...shared} value={monthly} onChange={setMonthly} />
      <TextField label="A day, in USD" {...shared} value={daily} onChange={setDaily} />
    </FormDialog>
  )
}

function textOf(limitUsd: number | null): string {
  return limitUsd === null ? '' : String(limitUsd)
}

function limitOf(text: string): number | null {
  return text === '' ? null : Number(text)
}
