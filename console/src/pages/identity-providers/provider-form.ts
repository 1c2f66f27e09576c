import type { IdentityProvider, ProviderChange } from '../../api/identity-providers.ts'

/** What the form holds: every field as text or a switch. */
export interface ProviderForm {
  readonly name: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scopes: string
  readonly groupsClaim: string
  readonly domains: string
  readonly needsVerifiedEmail: boolean
  readonly accountRule: IdentityProvider['account_rule']
  /** A line for each account: its id, and behind it the domain or the group. */
  readonly accounts: string
  readonly makesMembers: boolean
  readonly memberRole: IdentityProvider['member_role']
  readonly linksMembers: boolean
  readonly operatorGroups: string
  readonly operatorReaderGroups: string
}

export const EMPTY_FORM: ProviderForm = {
  name: '',
  clientId: '',
  clientSecret: '',
  scopes: 'openid email profile',
  groupsClaim: 'groups',
  domains: '',
  needsVerifiedEmail: true,
  accountRule: 'invited',
  accounts: '',
  makesMembers: false,
  memberRole: 'reader',
  linksMembers: false,
  operatorGroups: '',
  operatorReaderGroups: '',
}

export function formOf(provider: IdentityProvider): ProviderForm {
  return {
    name: provider.name,
    clientId: provider.client_id,
    clientSecret: '',
    scopes: provider.scopes.join(' '),
    groupsClaim: provider.groups_claim ?? '',
    domains: provider.allowed_domains.join(' '),
    needsVerifiedEmail: provider.needs_verified_email,
    accountRule: provider.account_rule,
    accounts: provider.accounts.map(({ account_id: id, match }) => `${id} ${match ?? ''}`.trim()).join('\n'),
    makesMembers: provider.makes_members,
    memberRole: provider.member_role,
    linksMembers: provider.links_members,
    operatorGroups: provider.operator_groups.join('\n'),
    operatorReaderGroups: provider.operator_reader_groups.join('\n'),
  }
}

/** What the form says, for a new provider and for a change. An empty secret stays as it is. */
export function settingsOf(form: ProviderForm): ProviderChange & { name: string; client_id: string } {
  const isOfAccounts = form.accountRule !== 'invited' && form.accountRule !== 'own'
  return {
    name: form.name.trim(),
    client_id: form.clientId.trim(),
    ...(form.clientSecret !== '' && { client_secret: form.clientSecret }),
    scopes: wordsOf(form.scopes),
    groups_claim: form.groupsClaim.trim() === '' ? null : form.groupsClaim.trim(),
    allowed_domains: wordsOf(form.domains.toLowerCase()),
    needs_verified_email: form.needsVerifiedEmail,
    account_rule: form.accountRule,
    accounts: linesOf(form.accounts).map(accountOf),
    makes_members: isOfAccounts && form.makesMembers,
    member_role: form.memberRole,
    links_members: form.linksMembers,
    operator_groups: linesOf(form.operatorGroups),
    operator_reader_groups: linesOf(form.operatorReaderGroups),
  }
}

function accountOf(line: string): { account_id: string; match?: string } {
  const [id = '', ...rest] = line.split(/\s+/)
  const match = rest.join(' ')
  return { account_id: id, ...(match !== '' && { match }) }
}

function wordsOf(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((word) => word !== ''))]
}

function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim())
  return [...new Set(lines.filter((line) => line !== ''))]
}
