import { useQuery } from '@tanstack/react-query'
import { accountQuery } from '../api/account.ts'
import { KEY_ENVIRONMENTS, type KeyScope } from '../api/keys.ts'
import { CheckboxField } from '../ui/forms/checkbox-field.tsx'
import { SelectField } from '../ui/forms/select-field.tsx'
import { TextField } from '../ui/forms/text-field.tsx'
import type { KeyDraft } from './key-draft.ts'
import { ModelChoice } from './model-choice.tsx'

interface KeyFieldsProps {
  readonly draft: KeyDraft
  readonly onChange: (draft: KeyDraft) => void
  /** The environment is part of the key and cannot be changed later. */
  readonly hasEnvironment: boolean
}

const SCOPES: readonly { readonly scope: KeyScope; readonly label: string; readonly hint: string }[] = [
  { scope: 'inference', label: 'Inference', hint: 'Uses models.' },
  { scope: 'manage', label: 'Manage', hint: 'Manages keys, payments and deployments of this account.' },
  { scope: 'admin', label: 'Admin', hint: 'Operates the gateway: all accounts, credit, promo codes.' },
]

/** What can be entered for a new key and for an existing one. */
export function KeyFields({ draft, onChange, hasEnvironment }: KeyFieldsProps) {
  const { data: account } = useQuery(accountQuery)
  const granted: readonly string[] = account?.key.scopes ?? []
  const set = (change: Partial<KeyDraft>): void => onChange({ ...draft, ...change })
  return (
    <div className="flex flex-col gap-4">
      <div className={hasEnvironment ? 'grid gap-4 sm:grid-cols-[1fr_144px]' : ''}>
        <TextField
          label="Name"
          placeholder="Nightly report"
          maxLength={200}
          required
          value={draft.name}
          onChange={(name) => set({ name })}
        />
        {hasEnvironment && (
          <SelectField
            label="Environment"
            value={draft.env}
            choices={KEY_ENVIRONMENTS.map((env) => ({ value: env, label: env }))}
            onChange={(env) => set({ env })}
          />
        )}
      </div>
      <fieldset>
        <legend className="pb-1 text-xs font-medium text-ink-soft">Scopes</legend>
        {SCOPES.filter(({ scope }) => granted.includes(scope) || draft.scopes.includes(scope)).map(
          ({ scope, label, hint }) => (
            <CheckboxField
              key={scope}
              label={label}
              hint={hint}
              isChecked={draft.scopes.includes(scope)}
              onChange={(isChecked) =>
                set({
                  scopes: isChecked
                    ? [...draft.scopes, scope]
                    : draft.scopes.filter((other) => other !== scope),
                })
              }
            />
          ),
        )}
      </fieldset>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Spend limit in USD"
          type="number"
          inputMode="decimal"
          min="0"
          step="any"
          placeholder="No limit"
          hint="In total, over the life of the key."
          value={draft.limitUsd}
          onChange={(limitUsd) => set({ limitUsd })}
        />
        <TextField
          label="Requests per minute"
          type="number"
          inputMode="numeric"
          min="1"
          step="1"
          placeholder="As the account"
          value={draft.requestsPerMinute}
          onChange={(requestsPerMinute) => set({ requestsPerMinute })}
        />
      </div>
      <TextField
        label="Expires"
        type="datetime-local"
        hint="In your time zone. Leave it empty for a key that does not expire."
        value={draft.expiresAt}
        onChange={(expiresAt) => set({ expiresAt })}
      />
      <ModelChoice chosen={draft.allowedModels} onChange={(allowedModels) => set({ allowedModels })} />
    </div>
  )
}
