import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  changeBudget,
  createBudget,
  raiseBudget,
  requestBudget,
  type Budget,
  type BudgetSubject,
  type BudgetWindow,
} from '../api/budgets.ts'
import { CheckboxField } from '../ui/forms/checkbox-field.tsx'
import { SelectField, type Choice } from '../ui/forms/select-field.tsx'
import { TextArea } from '../ui/forms/text-area.tsx'
import { TextField } from '../ui/forms/text-field.tsx'
import { FormDialog } from '../ui/overlays/form-dialog.tsx'
import { showToast } from '../ui/overlays/toasts.tsx'
import { SubjectFields } from './subject-fields.tsx'

const WINDOW_CHOICES: readonly Choice<BudgetWindow>[] = [
  { value: 'month', label: 'A month' },
  { value: 'week', label: 'A week, from Monday' },
  { value: 'day', label: 'A day' },
  { value: 'total', label: 'In total, without starting again' },
]
const THRESHOLDS_PERCENT = [50, 80, 95]
const WEEK_MS = 7 * 24 * 3_600_000

interface BudgetDialogProps {
  /** Null: it is chosen here. */
  readonly subject: BudgetSubject | null
  /** The budget to change. Absent for a new one. */
  readonly budget?: Budget
  readonly onClose: () => void
}

/** Makes a budget, or changes its limit. */
export function BudgetDialog({ subject, budget, onClose }: BudgetDialogProps) {
  const [chosen, setChosen] = useState<BudgetSubject>(subject ?? { type: 'account', id: null })
  const [period, setPeriod] = useState<BudgetWindow>('month')
  const [limitUsd, setLimitUsd] = useState(budget === undefined ? '' : String(budget.limit_usd))
  const [isHard, setIsHard] = useState(budget?.is_hard ?? true)
  const [models, setModels] = useState('')
  const work = useBudgetWork(async () => {
    const limits = { limit_usd: Number(limitUsd), is_hard: isHard }
    if (budget !== undefined) return changeBudget(budget.id, limits)
    const names = models
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '')
    return createBudget({
      ...limits,
      subject: chosen,
      window: period,
      models: names.length === 0 ? null : names,
      thresholds_percent: THRESHOLDS_PERCENT,
    })
  }, onClose)
  return (
    <FormDialog
      title={budget === undefined ? 'New budget' : 'Change the budget'}
      action={budget === undefined ? 'Make the budget' : 'Save'}
      work={work}
      failure="The budget could not be saved"
      isIncomplete={!isAmount(limitUsd) || (chosen.type !== 'account' && chosen.id === null)}
      onClose={onClose}
    >
      {subject === null && <SubjectFields subject={chosen} onChange={setChosen} />}
      <TextField
        label="Limit in USD"
        type="number"
        min="0"
        step="any"
        required
        value={limitUsd}
        onChange={setLimitUsd}
      />
      {budget === undefined && (
        <>
          <SelectField label="For" value={period} choices={WINDOW_CHOICES} onChange={setPeriod} />
          <TextField
            label="Only these models"
            value={models}
            onChange={setModels}
            hint="Ids, separated by commas. Empty for all."
          />
        </>
      )}
      <CheckboxField
        label="Refuse what does not fit"
        hint="Otherwise it only warns, at 50, 80 and 95 %."
        isChecked={isHard}
        onChange={setIsHard}
      />
    </FormDialog>
  )
}

export function RaiseDialog({ budget, onClose }: { readonly budget: Budget; readonly onClose: () => void }) {
  const [amountUsd, setAmountUsd] = useState('')
  const [until, setUntil] = useState(() => dayAhead())
  const work = useBudgetWork(
    () => raiseBudget(budget.id, { amount_usd: Number(amountUsd), until: endOfDay(until) }),
    onClose,
  )
  return (
    <FormDialog
      title="Raise the budget for a while"
      action="Raise"
      work={work}
      failure="The budget could not be raised"
      isIncomplete={!isAmount(amountUsd) || until === ''}
      onClose={onClose}
    >
      <AmountFields amountUsd={amountUsd} until={until} onAmount={setAmountUsd} onUntil={setUntil} />
    </FormDialog>
  )
}

export function AskForMoreDialog({
  budget,
  onClose,
}: {
  readonly budget: Budget
  readonly onClose: () => void
}) {
  const [amountUsd, setAmountUsd] = useState('')
  const [until, setUntil] = useState(() => dayAhead())
  const [reason, setReason] = useState('')
  const work = useBudgetWork(async () => {
    await requestBudget({
      budget_id: budget.id,
      amount_usd: Number(amountUsd),
      until: endOfDay(until),
      reason: reason.trim(),
    })
    showToast('You have asked for more', 'Whoever manages the budget decides.')
  }, onClose)
  return (
    <FormDialog
      title="Ask for more"
      action="Ask"
      work={work}
      failure="The request could not be sent"
      isIncomplete={!isAmount(amountUsd) || until === '' || reason.trim() === ''}
      onClose={onClose}
    >
      <AmountFields amountUsd={amountUsd} until={until} onAmount={setAmountUsd} onUntil={setUntil} />
      <TextArea label="Reason" value={reason} onChange={setReason} />
    </FormDialog>
  )
}

interface AmountFieldsProps {
  readonly amountUsd: string
  readonly until: string
  readonly onAmount: (amount: string) => void
  readonly onUntil: (until: string) => void
}

function AmountFields({ amountUsd, until, onAmount, onUntil }: AmountFieldsProps) {
  return (
    <>
      <TextField
        label="Amount beside the limit, in USD"
        type="number"
        min="0"
        step="any"
        required
        autoFocus
        value={amountUsd}
        onChange={onAmount}
      />
      <TextField
        label="Until the end of this day (UTC)"
        type="date"
        required
        value={until}
        onChange={onUntil}
      />
    </>
  )
}

function useBudgetWork(act: () => Promise<unknown>, onDone: () => void) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: act,
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['budgets'] })
      onDone()
    },
  })
}

function isAmount(text: string): boolean {
  return text.trim() !== '' && Number.isFinite(Number(text)) && Number(text) >= 0
}

function dayAhead(): string {
  return new Date(Date.now() + WEEK_MS).toISOString().slice(0, 'YYYY-MM-DD'.length)
}

function endOfDay(day: string): string {
  return `${day}T23:59:59Z`
}
