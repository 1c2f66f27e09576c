/** A file imports only from lower floors and, except in modules, from its own floor. */
export const FLOORS: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  outbound: ['kernel'],
  storage: ['kernel'],
  providers: ['wires', 'kernel'],
  payments: ['kernel'],
  mail: ['kernel'],
  gpu: ['kernel'],
  hub: ['outbound', 'kernel'],
  telemetry: ['kernel'],
  modules: ['storage', 'wires', 'providers', 'payments', 'mail', 'gpu', 'hub', 'outbound', 'kernel'],
  worker: ['modules', 'storage', 'kernel'],
  wires: ['kernel'],
  http: ['modules', 'wires', 'providers', 'telemetry', 'kernel'],
  app: [
    'http',
    'worker',
    'modules',
    'storage',
    'wires',
    'providers',
    'payments',
    'mail',
    'gpu',
    'hub',
    'outbound',
    'telemetry',
    'kernel',
  ],
}

/** A module imports only modules of an earlier rank, and only their main file. */
export const MODULE_RANKS: readonly (readonly string[])[] = [
  ['audit'],
  ['accounts', 'keys', 'catalog', 'idempotency', 'ledger'],
  [
    'limits',
    'billing',
    'budget-alerts',
    'budgets',
    'usage',
    'media',
    'sessions',
    'projects',
    'groups',
    'roles',
  ],
  ['inference', 'tasks', 'deployments', 'people'],
  ['chat', 'embeddings', 'rerank', 'moderation', 'generation', 'transcription', 'speech', 'request-log'],
  ['judging', 'responses'],
  ['compare'],
  ['conversations'],
]

/** The same for the folders of the console. A page imports no other page. */
export const CONSOLE_FLOORS: Readonly<Record<string, readonly string[]>> = {
  api: [],
  ui: ['api'],
  shell: ['ui', 'api'],
  snippets: ['ui', 'api'],
  keys: ['ui', 'api'],
  organization: ['keys', 'ui', 'api'],
  pages: ['shell', 'snippets', 'organization', 'keys', 'ui', 'api'],
}
