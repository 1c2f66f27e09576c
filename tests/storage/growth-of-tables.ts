interface GrowingTable {
  /** How long its rows are kept, or what bounds them. */
  readonly kept: string
  /** Why the account is not in its key. Absent if it is. */
  readonly withoutAccount?: string
}

const OF_ITS_BUDGET = 'its budget belongs to an account'
const OF_ITS_RUN = 'its run belongs to an account'

/** Tables that get rows by requests, or by work that requests ask for. */
export const GROWS_WITH_REQUESTS: Readonly<Record<string, GrowingTable>> = {
  agent_exports: { kept: '90 days' },
  archive_parts: {
    kept: 'one row for a million archived rows',
    withoutAccount: 'a file has the rows of many accounts',
  },
  archived_sums: { kept: 'one row an account and archived month' },
  budget_checks: {
    kept: 'until any process has looked, within seconds',
    withoutAccount: 'a queue, which is taken from its beginning',
  },
  budget_spending: { kept: '400 days, and less for short windows', withoutAccount: OF_ITS_BUDGET },
  budget_window_checks: {
    kept: 'until any process has looked, within seconds',
    withoutAccount: 'a queue, which is taken from its beginning',
  },
  charge_journal: {
    kept: 'until it is posted, within seconds',
    withoutAccount: 'one commit has charges of many accounts',
  },
  charges_by_day: { kept: 'one row a day, key and model, for ever' },
  compare_cells: { kept: '90 days, unless the run is saved', withoutAccount: OF_ITS_RUN },
  compare_judged: { kept: 'as its run', withoutAccount: OF_ITS_RUN },
  compare_judgements: { kept: 'as its run', withoutAccount: OF_ITS_RUN },
  compare_replies: {
    kept: 'until its conversation is deleted',
    withoutAccount: 'its turn belongs to an account',
  },
  compare_turns: {
    kept: 'until its conversation is deleted',
    withoutAccount: 'its conversation belongs to an account',
  },
  credit_holds: {
    kept: 'as its task; the last one of each run of a deployment',
    withoutAccount: 'it is found by the key of what it is for',
  },
  failed_requests: { kept: 'PARKWAY_FAILED_REQUEST_RETENTION_DAYS, in partitions by day' },
  gateway_latency_days: {
    kept: 'one row a day and group, for ever',
    withoutAccount: 'sums of all accounts, for operators',
  },
  gateway_stale_days: {
    kept: 'until any process has added the day up',
    withoutAccount: 'a day of all accounts',
  },
  gateway_usage_days: {
    kept: 'one row a day and group, for ever',
    withoutAccount: 'sums of all accounts, for operators',
  },
  idempotency_keys: { kept: '24 hours, and the quota of the account' },
  latency_days: { kept: 'one row a day, key and model, for ever' },
  latency_rollups: { kept: '45 days' },
  ledger_by_day: { kept: 'one row a day and kind, for ever' },
  ledger_entries: {
    kept: 'one row an account and posting, for ever; archived by month',
    withoutAccount: 'one entry of revenue is of many accounts; an index begins with the account',
  },
  media: {
    kept: 'PARKWAY_RESULT_RETENTION_DAYS, and the quota of the account',
    withoutAccount: 'it is found by its id alone, from a signed address',
  },
  provider_health: { kept: '35 days by hour, 400 by day', withoutAccount: 'it is about providers' },
  request_bodies: { kept: 'what the account sets, and PARKWAY_BODY_ACCOUNT_MIB_MAX' },
  request_errors: { kept: 'PARKWAY_FAILED_REQUEST_RETENTION_DAYS' },
  response_conversation_items: { kept: 'PARKWAY_RESPONSE_RETENTION_DAYS, and the quota of the account' },
  response_conversations: { kept: 'PARKWAY_RESPONSE_RETENTION_DAYS, and the quota of the account' },
  response_events: { kept: 'as its response' },
  responses: { kept: 'PARKWAY_RESPONSE_RETENTION_DAYS, and the quota of the account' },
  spend_by_day: { kept: 'one row a day and key, for ever' },
  stored_byte_changes: {
    kept: 'until any process has added it up, within seconds',
    withoutAccount: 'a queue, which is taken from its beginning',
  },
  tasks: {
    kept: 'PARKWAY_USAGE_RETENTION_MONTHS',
    withoutAccount: 'workers and callbacks find it by its id alone',
  },
  usage_by_label: { kept: 'one row an hour, tag, key and model, for ever' },
  usage_carried: { kept: 'one row an account and dropped month' },
  usage_labels: { kept: 'one row a day and tag, for ever' },
  usage_records: { kept: 'PARKWAY_USAGE_RETENTION_MONTHS, in partitions by month' },
  usage_rollups: { kept: 'one row an hour, key and model, for ever' },
  usage_stale_days: {
    kept: 'until any process has added the day up',
    withoutAccount: 'it has no key, and its index begins with the account',
  },
  usage_sums: {
    kept: 'one row a day, week or month and group, for ever',
    withoutAccount: 'it has no key, and its index begins with the account',
  },
  webhook_deliveries: { kept: 'as what it tells of', withoutAccount: 'it is sent by its id alone' },
}

/** All other tables, by what they grow with. */
export const GROWS_WITH: Readonly<Record<string, readonly string[]>> = {
  'accounts, keys and people': [
    'account_members',
    'account_tiers',
    'accounts',
    'api_keys',
    'auto_top_ups',
    'body_policies',
    'budget_alert_settings',
    'budgets',
    'credit_accounts',
    'grants',
    'group_members',
    'groups',
    'identities',
    'invites',
    'managed_settings',
    'passkeys',
    'project_day_requests',
    'project_groups',
    'project_members',
    'project_model_permissions',
    'project_rate_limits',
    'projects',
    'role_assignments',
    'roles',
    'scim_tokens',
    'scim_users',
    'service_accounts',
    'spend_budgets',
    'stored_bytes',
    'task_turns',
    'usage_sum_progress',
    'users',
    'webhook_secrets',
  ],
  'changes that people make, which are kept for ever': [
    'account_changes',
    'audit_entries',
    'budget_requests',
  ],
  'payments, months and alerts of accounts': [
    'account_notices',
    'archives',
    'auto_top_up_charges',
    'budget_alerts',
    'budget_warnings',
    'checkouts',
    'closed_months',
    'credit_lots',
    'payment_events',
    'payment_method_setups',
    'payment_methods_to_remove',
    'payments',
    'promo_redemptions',
    'refund_requests',
    'statements',
    'usage_anomalies',
  ],
  'deployments and their running time': [
    'deployment_activity',
    'deployment_events',
    'deployment_metrics',
    'deployment_runs',
    'deployment_tokens',
    'deployments',
    'model_prefetches',
  ],
  'what an account stores, within its quota': [
    'compare_conversation_lanes',
    'compare_conversations',
    'compare_dataset_versions',
    'compare_datasets',
    'compare_lanes',
    'compare_prompts',
    'compare_runs',
    'compare_votes',
    'saved_chats',
  ],
  'the installation, providers and models': [
    'file_prices',
    'gateway_sum_progress',
    'identity_provider_accounts',
    'identity_providers',
    'installation',
    'ledger_check',
    'media_secret',
    'model_prices',
    'offer_state',
    'offered_model_names',
    'offered_models',
    'offered_providers',
    'operators',
    'price_adjustments',
    'promo_codes',
    'provider_credentials',
    'provider_key_spend',
    'sandbox_machines',
    'sign_in_policies',
    'statement_numbers',
    'trusted_issuers',
    'uncounted_entries',
    'usage_anomaly_checks',
  ],
  'running processes and what they borrow': [
    'borrowers',
    'credit_leases',
    'journal_positions',
    'rate_buckets',
    'slot_loans',
    'slot_pools',
    'slot_waiters',
  ],
  'sign-ins and tokens that are not over': [
    'access_tokens',
    'device_code_guesses',
    'device_codes',
    'exchanged_tokens',
    'passkey_challenges',
    'promo_guesses',
    'recovery_links',
    'refresh_tokens',
    'scim_failures',
    'sessions',
    'sign_in_codes',
    'used_directory_tokens',
  ],
}

/** The table of `docs/growth.md`. */
export function renderGrowth(): string {
  const rows = Object.entries(GROWS_WITH_REQUESTS).map(([table, { kept }]) => `| \`${table}\` | ${kept} |`)
  return ['| table | kept |', '|---|---|', ...rows].join('\n')
}
