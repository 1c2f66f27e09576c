import { SelectField } from '../../../ui/forms/select-field.tsx'
import { TextArea } from '../../../ui/forms/text-area.tsx'
import { TextField } from '../../../ui/forms/text-field.tsx'
import { amountsOf, PRICE_UNITS, type PriceDraft, type PriceUnit } from './price-draft.ts'

interface PriceFieldsProps {
  readonly draft: PriceDraft
  readonly onChange: (draft: PriceDraft) => void
  /** What is wrong with the further settings. */
  readonly problem: string | null
}

const UNITS: readonly { readonly value: PriceUnit; readonly label: string }[] = [
  { value: 'token', label: PRICE_UNITS.token },
  { value: 'image', label: PRICE_UNITS.image },
  { value: 'second', label: PRICE_UNITS.second },
  { value: 'character', label: PRICE_UNITS.character },
  { value: 'search', label: PRICE_UNITS.search },
  { value: 'request', label: PRICE_UNITS.request },
]

/** Everything that a price list says. */
export function PriceFields({ draft, onChange, problem }: PriceFieldsProps) {
  return (
    <>
      <SelectField
        label="US dollars for"
        value={draft.unit}
        choices={UNITS}
        onChange={(unit) => onChange({ ...draft, unit })}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        {amountsOf(draft.unit).map(([name, label], index) => (
          <TextField
            key={name}
            label={label}
            type="number"
            inputMode="decimal"
            min="0"
            step="any"
            required={index === 0}
            value={draft.amounts[name] ?? ''}
            onChange={(amount) => onChange({ ...draft, amounts: { ...draft.amounts, [name]: amount } })}
          />
        ))}
      </div>
      <TextArea
        label="Further settings of the price, as JSON"
        isCode
        rows={2}
        spellCheck={false}
        placeholder='{"long_context": [{"above_tokens": 200000, "input_usd_per_1m": 4, "output_usd_per_1m": 18}]}'
        hint="Such as other rates of long prompts (long_context), factors by size or quality (multipliers), or of batches (batch_factor, batch_single_factor). It may be empty."
        error={problem}
        value={draft.others}
        onChange={(others) => onChange({ ...draft, others })}
      />
    </>
  )
}
