import { KEY_ENVIRONMENTS } from '../../api/keys.ts'
import { CheckboxField } from '../../ui/forms/checkbox-field.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { IconButton } from '../../ui/forms/icon-button.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { newClaim, type RuleForm } from './issuer-form.ts'
import { ServiceAccountField } from './service-account-field.tsx'

interface RuleFieldsProps {
  readonly projectId: string
  readonly rule: RuleForm
  /** From 1. */
  readonly number: number
  readonly onChange: (change: Partial<RuleForm>) => void
  /** Absent for the first rule. */
  readonly onMoveUp?: (() => void) | undefined
  /** Absent for the only rule. */
  readonly onRemove?: (() => void) | undefined
}

/** Which claims a token needs, and what it becomes. */
export function RuleFields({ projectId, rule, number, onChange, onMoveUp, onRemove }: RuleFieldsProps) {
  const { claims } = rule
  const change = (key: number, part: { name?: string; value?: string }): void =>
    onChange({ claims: claims.map((claim) => (claim.key === key ? { ...claim, ...part } : claim)) })
  return (
    <fieldset className="flex min-w-0 flex-col gap-3 rounded-md border border-line p-3">
      <legend className="sr-only">Rule {number}</legend>
      <div className="flex min-h-8 items-center justify-between gap-2">
        <p aria-hidden="true" className="text-sm font-medium">
          Rule {number}
        </p>
        <span className="flex">
          {onMoveUp && <IconButton icon="up" label={`Move rule ${number} up`} onClick={onMoveUp} />}
          {onRemove && <IconButton icon="trash" label={`Remove rule ${number}`} onClick={onRemove} />}
        </span>
      </div>
      <p className="text-xs text-ink-soft">A token with all of these claims</p>
      <ul className="flex flex-col gap-2">
        {claims.map(({ key, name, value }, index) => (
          <li key={key} className="flex items-end gap-2">
            <TextField
              label={`Claim ${index + 1} of rule ${number}`}
              isLabelHidden
              className="w-2/5"
              placeholder="sub"
              required
              maxLength={200}
              value={name}
              onChange={(text) => change(key, { name: text })}
            />
            <TextField
              label={`Value of claim ${index + 1} of rule ${number}`}
              isLabelHidden
              className="grow"
              placeholder="exactly this value"
              required
              maxLength={300}
              value={value}
              onChange={(text) => change(key, { value: text })}
            />
            <IconButton
              icon="close"
              label={`Remove claim ${index + 1} of rule ${number}`}
              disabled={claims.length === 1}
              onClick={() => onChange({ claims: claims.filter((claim) => claim.key !== key) })}
            />
          </li>
        ))}
      </ul>
      <Button
        kind="quiet"
        icon="plus"
        className="self-start"
        disabled={claims.length >= CLAIMS_MAX}
        onClick={() => onChange({ claims: [...claims, newClaim()] })}
      >
        Add a claim
      </Button>
      <ServiceAccountField
        projectId={projectId}
        value={rule.serviceAccountId}
        onChange={(serviceAccountId) => onChange({ serviceAccountId })}
      />
      <TextField
        label="Minutes that the access token lives"
        type="number"
        required
        min={1}
        max={60}
        step="any"
        value={rule.minutes}
        onChange={(minutes) => onChange({ minutes })}
      />
      <SelectField
        label="Environment of the access token"
        value={rule.env}
        choices={KEY_ENVIRONMENTS.map((env) => ({ value: env, label: env }))}
        onChange={(env) => onChange({ env })}
      />
      <CheckboxField
        label="Take each token only once"
        hint="By its claim jti. A token without one is refused."
        isChecked={rule.isOnce}
        onChange={(isOnce) => onChange({ isOnce })}
      />
    </fieldset>
  )
}

const CLAIMS_MAX = 10
