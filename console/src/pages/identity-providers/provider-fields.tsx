import { SelectField } from '../../ui/forms/select-field.tsx'
import { SwitchField } from '../../ui/forms/switch-field.tsx'
import { TextArea } from '../../ui/forms/text-area.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import type { ProviderForm } from './provider-form.ts'

interface ProviderFieldsProps {
  readonly form: ProviderForm
  readonly onChange: (change: Partial<ProviderForm>) => void
  readonly hasSecret: boolean
}

/** Everything about a provider but its issuer. */
export function ProviderFields({ form, onChange, hasSecret }: ProviderFieldsProps) {
  return (
    <>
      <TextField
        label="Name"
        hint="What the button on the sign-in page says."
        required
        maxLength={200}
        value={form.name}
        onChange={(name) => onChange({ name })}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Client id"
          required
          value={form.clientId}
          onChange={(clientId) => onChange({ clientId })}
        />
        <TextField
          label="Client secret"
          type="password"
          autoComplete="off"
          placeholder={hasSecret ? 'Stays as it is' : ''}
          value={form.clientSecret}
          onChange={(clientSecret) => onChange({ clientSecret })}
        />
      </div>
      <TextField
        label="Domains"
        hint="Only these e-mail domains sign in. Empty: any."
        placeholder="example.com"
        value={form.domains}
        onChange={(domains) => onChange({ domains })}
      />
      <SwitchField
        label="The provider has to verify addresses"
        hint="Off: whatever address it tells is taken, for the domains above."
        isOn={form.needsVerifiedEmail}
        onChange={(needsVerifiedEmail) => onChange({ needsVerifiedEmail })}
      />
      <AccountFields form={form} onChange={onChange} />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label="Scopes" value={form.scopes} onChange={(scopes) => onChange({ scopes })} />
        <TextField
          label="Claim with the groups"
          hint="Empty: groups are not followed."
          value={form.groupsClaim}
          onChange={(groupsClaim) => onChange({ groupsClaim })}
        />
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextArea
          label="Groups that operate the gateway"
          hint="One a line."
          value={form.operatorGroups}
          onChange={(operatorGroups) => onChange({ operatorGroups })}
        />
        <TextArea
          label="Groups that see what operators see"
          hint="One a line."
          value={form.operatorReaderGroups}
          onChange={(operatorReaderGroups) => onChange({ operatorReaderGroups })}
        />
      </div>
    </>
  )
}

function AccountFields({ form, onChange }: Omit<ProviderFieldsProps, 'hasSecret'>) {
  const { accountRule } = form
  const makesOthers = accountRule === 'invited' || accountRule === 'own'
  return (
    <>
      <SelectField
        label="People enter"
        value={accountRule}
        choices={RULES}
        onChange={(rule) => onChange({ accountRule: rule })}
      />
      <TextArea
        label={makesOthers ? 'Accounts that the provider speaks for' : 'Accounts'}
        hint={ACCOUNT_HINTS[accountRule]}
        isCode
        rows={2}
        value={form.accounts}
        onChange={(accounts) => onChange({ accounts })}
      />
      {!makesOthers && (
        <SwitchField
          label="Make people members at their first sign-in"
          isOn={form.makesMembers}
          onChange={(makesMembers) => onChange({ makesMembers })}
        />
      )}
      {!makesOthers && form.makesMembers && (
        <SelectField
          label="Role of new members"
          value={form.memberRole}
          choices={ROLES}
          onChange={(memberRole) => onChange({ memberRole })}
        />
      )}
      <SwitchField
        label="Members with the same address are the same people"
        hint="For the accounts and domains above. Only if everybody in the directory has the address that it tells."
        isOn={form.linksMembers}
        onChange={(linksMembers) => onChange({ linksMembers })}
      />
    </>
  )
}

const RULES = [
  { value: 'fixed', label: 'One account' },
  { value: 'domain', label: 'The account of their e-mail domain' },
  { value: 'group', label: 'The account of one of their groups' },
  { value: 'invited', label: 'Where they are invited' },
  { value: 'own', label: 'An account of their own' },
] as const

const ACCOUNT_HINTS = {
  fixed: 'The id of the account.',
  domain: 'One a line: the id of an account, a space, the domain.',
  group: 'One a line: the id of an account, a space, the group.',
  invited: 'Needed only to link members by their address. One a line: the id of an account.',
  own: 'Needed only to link members by their address. One a line: the id of an account.',
} as const

const ROLES = [
  { value: 'reader', label: 'Reader' },
  { value: 'auditor', label: 'Auditor' },
  { value: 'billing', label: 'Billing' },
  { value: 'owner', label: 'Owner' },
] as const
