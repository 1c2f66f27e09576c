import { Button } from '../../ui/forms/button.tsx'
import { CheckboxField } from '../../ui/forms/checkbox-field.tsx'
import { TextArea } from '../../ui/forms/text-area.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { ALGORITHMS, newRule, problemOfJwks, type IssuerForm, type RuleForm } from './issuer-form.ts'
import { RuleFields } from './rule-fields.tsx'

interface IssuerFieldsProps {
  readonly projectId: string
  readonly form: IssuerForm
  readonly onChange: (change: Partial<IssuerForm>) => void
}

const RULES_MAX = 20

/** Everything about an issuer: whose tokens, for whom, signed how, and what they become. */
export function IssuerFields({ projectId, form, onChange }: IssuerFieldsProps) {
  const { rules } = form
  const changeRule = (key: number, change: Partial<RuleForm>): void =>
    onChange({ rules: rules.map((rule) => (rule.key === key ? { ...rule, ...change } : rule)) })
  return (
    <>
      <TextField
        label="Name"
        hint="The audit log names it for every exchange."
        required
        maxLength={200}
        value={form.name}
        onChange={(name) => onChange({ name })}
      />
      <TextField
        label="Issuer"
        hint="Exactly as in the claim iss of its tokens."
        required
        maxLength={300}
        value={form.issuer}
        onChange={(issuer) => onChange({ issuer })}
      />
      <TextField
        label="Audience"
        hint="What the claim aud must have. It should be for this gateway only."
        required
        maxLength={300}
        value={form.audience}
        onChange={(audience) => onChange({ audience })}
      />
      <section aria-labelledby="rules" className="flex flex-col gap-3">
        <div>
          <h3 id="rules" className="text-sm font-medium">
            Rules
          </h3>
          <p className="text-xs text-ink-soft">
            The first that fits decides. One claim has to say who asks, such as sub or repository. In sub,
            repository and ref, * stands for one part of a name and ** for several.
          </p>
        </div>
        {rules.map((rule, index) => (
          <RuleFields
            key={rule.key}
            projectId={projectId}
            rule={rule}
            number={index + 1}
            onChange={(change) => changeRule(rule.key, change)}
            onMoveUp={index === 0 ? undefined : () => onChange({ rules: swap(rules, index - 1) })}
            onRemove={
              rules.length === 1
                ? undefined
                : () => onChange({ rules: rules.filter(({ key }) => key !== rule.key) })
            }
          />
        ))}
        <Button
          icon="plus"
          className="self-start"
          disabled={rules.length >= RULES_MAX}
          onClick={() =>
            onChange({ rules: [...rules, newRule([['sub', '']], rules.at(-1)?.serviceAccountId)] })
          }
        >
          Add a rule
        </Button>
      </section>
      <TextArea
        label="Public keys, as JSON (JWKS)"
        hint="Only for an issuer that the gateway cannot reach, such as a cluster. Empty: the issuer is asked for its keys."
        isCode
        rows={3}
        spellCheck={false}
        placeholder={'{"keys": […]}'}
        value={form.jwks}
        error={problemOfJwks(form.jwks)}
        onChange={(jwks) => onChange({ jwks })}
      />
      <fieldset className="flex flex-col gap-1">
        <legend className="pb-1 text-xs font-medium text-ink-soft">Signatures that are taken</legend>
        <div className="grid grid-cols-3 gap-x-4 sm:grid-cols-5">
          {ALGORITHMS.map((name) => (
            <CheckboxField
              key={name}
              label={name}
              isChecked={form.algorithms.includes(name)}
              onChange={(isChecked) =>
                onChange({
                  algorithms: ALGORITHMS.filter((one) =>
                    one === name ? isChecked : form.algorithms.includes(one),
                  ),
                })
              }
            />
          ))}
        </div>
      </fieldset>
    </>
  )
}

/** Swaps an entry with the one after it. */
function swap(rules: readonly RuleForm[], index: number): RuleForm[] {
  return rules.flatMap((rule, place) => {
    if (place === index) return rules.slice(index + 1, index + 2)
    return place === index + 1 ? rules.slice(index, index + 1) : [rule]
  })
}
