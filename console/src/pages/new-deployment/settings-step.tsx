import { formatCount } from '../../ui/format/format-count.ts'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { Section } from '../../ui/layout/section.tsx'
import type { Plan } from './plan.ts'

interface SettingsStepProps {
  readonly plan: Plan
  readonly onChange: (changed: Partial<Plan>) => void
  readonly longestFitting: number | undefined
}

const QUANTIZATIONS = ['auto', 'fp16', 'bf16', 'fp8', 'int8', 'awq', 'gptq', 'Q4_K_M', 'Q8_0'].map(
  (value) => ({
    value,
    label: value === 'auto' ? 'as stored' : value,
  }),
)

export function SettingsStep({ plan, onChange, longestFitting }: SettingsStepProps) {
  return (
    <Section title="4. Settings">
      <div className="grid grid-cols-[repeat(auto-fill,minmax(220px,1fr))] gap-4">
        <TextField
          label="Name"
          value={plan.name}
          onChange={(name) => onChange({ name })}
          hint="By default the last part of the id."
        />
        <SelectField
          label="Quantization"
          value={plan.quantization}
          choices={QUANTIZATIONS}
          onChange={(quantization) => onChange({ quantization })}
        />
        <TextField
          label="Longest context (tokens)"
          inputMode="numeric"
          value={plan.contextTokens}
          onChange={(contextTokens) => onChange({ contextTokens })}
          hint={
            longestFitting ? `Up to ${formatCount(longestFitting)} fit.` : 'That of the model unless told.'
          }
        />
        <TextField
          label="Budget (USD)"
          inputMode="decimal"
          value={plan.budgetUsd}
          onChange={(budgetUsd) => onChange({ budgetUsd })}
          hint="It is stopped before it costs more. Empty: no limit."
        />
        <TextField
          label="Sleeps after (minutes)"
          inputMode="numeric"
          value={plan.idleMinutes}
          onChange={(idleMinutes) => onChange({ idleMinutes })}
          hint="Without a request. The next one wakes it. 0: never."
        />
      </div>
    </Section>
  )
}
