import { useState } from 'react'
import { formatUsd } from '../../../ui/format/format-usd.ts'
import { TextField } from '../../../ui/forms/text-field.tsx'
import { ConfirmDialog } from '../../../ui/overlays/confirm-dialog.tsx'
import { parseAskAbove, readAskAboveUsd, writeAskAboveUsd } from './ask-above.ts'

interface CostQuestionProps {
  readonly costUsd: number
  /** The model and its price. */
  readonly what: string
  readonly action: string
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Asks before a request that costs more than the person has set, and lets them set another amount. */
export function CostQuestion({ costUsd, what, action, onConfirm, onClose }: CostQuestionProps) {
  const [limit, setLimit] = useState(() => String(readAskAboveUsd()))
  const limitUsd = parseAskAbove(limit)
  return (
    <ConfirmDialog
      title={`This costs about ${formatUsd(costUsd)}`}
      description={
        <span className="flex flex-col gap-4">
          <span>{what}</span>
          <TextField
            label="Ask above (USD)"
            inputMode="decimal"
            value={limit}
            onChange={setLimit}
            error={limitUsd === null ? 'Enter an amount, such as 0.50.' : null}
            hint="What costs less is sent without a question. Kept in this browser."
          />
        </span>
      }
      action={action}
      onConfirm={async () => {
        if (limitUsd !== null) writeAskAboveUsd(limitUsd)
        onConfirm()
      }}
      onClose={onClose}
    />
  )
}
