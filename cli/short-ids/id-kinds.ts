/** A kind of id, and the list that it is looked for in. */
export interface IdKind {
  /** What the ids belong to, in the plural. */
  readonly things: string
  readonly prefix: string
  /** `{project}` stands for the project that the command names before it. */
  readonly path: string
  /** Whether the list begins with the newest id, so that the search can end early: ids begin with their time. */
  readonly isNewestFirst?: boolean
  /** Whether the list can be narrowed to the time that the first digits tell. */
  readonly isByTime?: boolean
  /** Whether the lists of all projects are read, because no project is named. */
  readonly isOfAnyProject?: boolean
}

const KINDS = {
  batch: { things: 'batches', prefix: 'batch_', path: '/v1/batches', isNewestFirst: true },
  storedFile: { things: 'files', prefix: 'file-', path: '/v1/files', isNewestFirst: true },
  task: { things: 'tasks', prefix: '', path: '/v1/tasks', isNewestFirst: true },
  deployment: { things: 'deployments', prefix: '', path: '/v1/deployments', isNewestFirst: true },
  key: { things: 'keys', prefix: '', path: '/v1/tenants/me/api-keys', isNewestFirst: true },
  run: { things: 'runs', prefix: '', path: '/v1/compare/runs', isNewestFirst: true },
  dataset: { things: 'datasets', prefix: '', path: '/v1/compare/datasets' },
  account: { things: 'accounts', prefix: '', path: '/v1/admin/accounts' },
  promo: { things: 'promo codes', prefix: '', path: '/v1/admin/promo-codes' },
  request: { things: 'requests', prefix: 'req_', path: '/v1/requests', isNewestFirst: true, isByTime: true },
  project: { things: 'projects', prefix: 'proj_', path: '/v1/organization/projects' },
  user: { things: 'people', prefix: 'user-', path: '/v1/organization/users' },
  invite: { things: 'invitations', prefix: 'invite-', path: '/v1/organization/invites' },
  group: { things: 'groups', prefix: 'group_', path: '/v1/organization/groups' },
  role: { things: 'roles', prefix: 'role_', path: '/v1/organization/roles' },
  budgetRequest: {
    things: 'requests for more',
    prefix: 'budget_req_',
    path: '/v1/organization/budget_requests',
  },
  budget: { things: 'budgets', prefix: 'budget_', path: '/v1/organization/budgets' },
  scimToken: { things: 'tokens', prefix: 'scim_token_', path: '/v1/organization/scim_tokens' },
  issuer: {
    things: 'issuers',
    prefix: 'issuer_',
    path: '/v1/organization/projects/{project}/trusted_issuers',
  },
  serviceAccount: {
    things: 'service accounts',
    prefix: 'svc_acct_',
    path: '/v1/organization/projects/{project}/service_accounts',
  },
  session: { things: 'sessions', prefix: '', path: '/v1/sessions', isNewestFirst: true },
  settings: { things: 'settings', prefix: 'settings_', path: '/v1/organization/managed_settings' },
} as const satisfies Record<string, IdKind>

/** By the name of the argument or option, or of the group whose commands take an `<id>`. */
const BY_NAME: Readonly<Record<string, IdKind>> = {
  ...KINDS,
  // The run that another one repeats, or is compared with.
  again: KINDS.run,
  against: KINDS.run,
  service_account: { ...KINDS.serviceAccount, isOfAnyProject: true },
  ofProject: KINDS.project,
  files: KINDS.storedFile,
  projects: KINDS.project,
  members: KINDS.user,
  invite: KINDS.invite,
  groups: KINDS.group,
  roles: KINDS.role,
  budgets: KINDS.budget,
  scim: KINDS.scimToken,
  'managed-settings': KINDS.settings,
  trust: KINDS.issuer,
  forAccount: KINDS.account,
  forProject: KINDS.project,
}

/** Places that mean another kind in one group. */
const BY_GROUP: Readonly<Record<string, Readonly<Record<string, IdKind>>>> = {
  trust: { account: KINDS.serviceAccount },
}

/** Arguments that take ids of several kinds, which the prefix tells. All others are names, amounts or texts, and never looked up. */
const OF_ANY_KIND: ReadonlySet<string> = new Set(['id', 'holder', 'thing'])

/** Options that take the id of something. */
export const ID_OPTIONS = [
  'key',
  'account',
  'ofProject',
  'forAccount',
  'forProject',
  'dataset',
  'again',
  'group',
] as const

/** Returns the kind of id that a word is meant to be: that of its prefix, or of the place where it stands. Null where no id stands. */
export function findIdKind(word: string, place: string, group: string): IdKind | null {
  const ofPlace = BY_GROUP[group]?.[place] ?? BY_NAME[place === 'id' ? group : place] ?? null
  if (ofPlace === null && !OF_ANY_KIND.has(place)) return null
  const ofPrefix = Object.values<IdKind>(KINDS).find(({ prefix }) => prefix !== '' && word.startsWith(prefix))
  // The place knows more of its own kind than the prefix: where its list is.
  return ofPrefix?.prefix === ofPlace?.prefix ? ofPlace : (ofPrefix ?? ofPlace)
}
