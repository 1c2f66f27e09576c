import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { resumeRun, type CompareRun } from '../../api/compare.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Button } from '../../ui/forms/button.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'

interface ResumeDialogProps {
  readonly run: CompareRun
  /** Answers that are missing. */
  readonly left: number
  readonly onClose: () => void
}

/** Goes on with a run, with another budget if the old one is spent. */
export function ResumeDialog({ run, left, onClose }: ResumeDialogProps) {
  const queryClient = useQueryClient()
  const [budget, setBudget] = useState(run.budget_usd === null ? '' : String(run.budget_usd))
  const resume = useMutation({
    mutationFn: () => resumeRun(run.id, budget.trim() === '' ? null : Number(budget)),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: ['compare'] })
      onClose()
    },
  })
  return (
    <Dialog
      title="Resume the run"
      description={`${left} of ${run.cells_total} answers failed or were never asked for. Only these are asked for.`}
      isOpen
      onClose={onClose}
      actions={
        <Button kind="primary" icon="play" isBusy={resume.isPending} onClick={() => resume.mutate()}>
          Ask what is left
        </Button>
      }
    >
      <TextField
        label="Budget (USD)"
        inputMode="decimal"
        value={budget}
        onChange={setBudget}
        hint={`Of the whole run. It has cost ${formatUsd(run.cost_usd)} so far. Empty: the budget stays as it is.`}
      />
      {resume.error && <ErrorPanel title="The run was not resumed" error={resume.error} />}
    </Dialog>
  )
}
