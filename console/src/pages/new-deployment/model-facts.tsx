import type { HubValidation } from '../../api/deployment-plans.ts'
import { formatCount, formatShortCount } from '../../ui/format/format-count.ts'
import { TextField } from '../../ui/forms/text-field.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { DetailsList } from '../../ui/text/details-list.tsx'

interface ModelFactsProps {
  readonly model: HubValidation
  readonly token: string
  readonly onToken: (token: string) => void
}

/** Shows the facts of a model, and the reasons why it cannot be deployed. */
export function ModelFacts({ model, token, onToken }: ModelFactsProps) {
  const details = {
    Architecture: model.architecture,
    Parameters: model.parameters === null ? null : formatShortCount(model.parameters),
    Files: model.format,
    'Longest context': model.max_context === null ? null : `${formatCount(model.max_context)} tokens`,
    Licence: model.license,
    Commit: model.revision?.slice(0, 12),
  }
  return (
    <Section title="2. What it is">
      <div className="flex flex-col gap-3">
        <DetailsList details={details} />
        {model.errors.map((text) => (
          <p key={text} role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm break-words">
            {text}
          </p>
        ))}
        {model.warnings.map((text) => (
          <p key={text} className="rounded-md bg-warn-soft px-3 py-2 text-sm break-words">
            {text}
          </p>
        ))}
        {(model.gated || token !== '') && (
          <TextField
            label="Token of the hub"
            type="password"
            autoComplete="off"
            value={token}
            onChange={onToken}
            hint="Kept encrypted for the starts of this deployment, and deleted with it."
            className="max-w-md"
          />
        )}
      </div>
    </Section>
  )
}
