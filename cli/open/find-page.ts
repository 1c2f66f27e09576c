import { ApiFailure } from '../api/api-failure.ts'
import type { GatewayClient } from '../api/gateway-client.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { toDeploymentId } from '../deployments/deployment-id.ts'

/** The pages of the console that have a name. */
export const PAGES = {
  home: '/',
  playground: '/playground',
  models: '/models',
  tasks: '/tasks',
  usage: '/usage',
  batches: '/batches',
  compare: '/compare',
  deployments: '/deployments',
  logs: '/log',
  keys: '/keys',
  billing: '/billing',
  organization: '/organization',
  budgets: '/organization?tab=budgets',
  members: '/organization?tab=members',
  projects: '/organization?tab=projects',
  profile: '/profile',
  overview: '/overview',
  doctor: '/doctor',
  requests: '/requests',
  accounts: '/accounts',
  providers: '/providers',
  'model-settings': '/model-settings',
  configuration: '/configuration',
  payments: '/payments',
  audit: '/audit',
  docs: '/docs',
} as const

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The pages of ids that say what they are. */
const BY_PREFIX: Readonly<Record<string, (id: string) => string>> = {
  req_: (id) => `/log?request=${id}`,
  proj_: (id) => `/organization/projects/${id}`,
  'byom-': (id) => `/deployments/${toDeploymentId(id)}`,
  'user-': (id) => `/organization?tab=members&open=${id}`,
  group_: (id) => `/organization?tab=groups&open=${id}`,
  role_: () => '/organization?tab=roles',
  budget_req_: () => '/organization?tab=requests',
  budget_: () => '/organization?tab=budgets',
  'invite-': () => '/organization?tab=members',
  scim_token_: () => '/organization?tab=directory',
  settings_: () => '/organization?tab=agents',
  'audit_log-': (id) => `/organization?tab=audit&open=${id}`,
}

type Probe = (gateway: GatewayClient, id: string) => Promise<unknown>

/** What a plain UUID may be, with its page. The first one that exists is meant. */
const KINDS: readonly { readonly read: Probe; readonly page: (id: string) => string }[] = [
  {
    read: (gateway, id) =>
      gateway.call((routes) => routes.GET('/v1/tasks/{id}', { params: { path: { id } } })),
    page: (id) => `/tasks?task=${id}`,
  },
  {
    read: (gateway, id) =>
      gateway.call((routes) => routes.GET('/v1/deployments/{id}', { params: { path: { id } } })),
    page: (id) => `/deployments/${id}`,
  },
  {
    read: (gateway, id) =>
      gateway.call((routes) => routes.GET('/v1/compare/runs/{run_id}', { params: { path: { run_id: id } } })),
    page: (id) => `/compare/${id}`,
  },
  {
    read: (gateway, id) =>
      gateway.call((routes) => routes.GET('/v1/tenants/me/api-keys/{id}', { params: { path: { id } } })),
    page: (id) => `/keys?key=${id}`,
  },
  {
    read: (gateway, id) =>
      gateway.call((routes) =>
        routes.GET('/v1/requests/{request_id}', { params: { path: { request_id: id } } }),
      ),
    page: (id) => `/log?request=req_${id.replaceAll('-', '').toLowerCase()}`,
  },
  {
    read: (gateway, id) =>
      gateway.call((routes) => routes.GET('/v1/admin/accounts/{id}', { params: { path: { id } } })),
    page: (id) => `/accounts/${id}`,
  },
]

/** Finds the page of the console that shows a thing: a page by its name, an id, or a model. */
export async function findPage(gateway: GatewayClient, word: string): Promise<string> {
  const named = Object.entries(PAGES).find(([name]) => name === word)
  if (named !== undefined) return named[1]
  const prefix = Object.keys(BY_PREFIX).find((known) => word.startsWith(known))
  const page = prefix === undefined ? undefined : BY_PREFIX[prefix]
  if (page !== undefined) return page(encodeURIComponent(word))
  const found = UUID.test(word) ? await findKind(gateway, word) : await findModel(gateway, word)
  if (found !== null) return found
  throw new CommandFailure(
    EXIT.notFound,
    `Nothing with the name or id "${word}" was found.`,
    `Give an id, a model, or one of ${Object.keys(PAGES).join(', ')}.`,
  )
}

async function findKind(gateway: GatewayClient, id: string): Promise<string | null> {
  const found = await Promise.all(
    KINDS.map(async ({ read, page }) => ((await exists(() => read(gateway, id))) ? page(id) : null)),
  )
  return found.find((page) => page !== null) ?? null
}

async function findModel(gateway: GatewayClient, word: string): Promise<string | null> {
  const params = { path: { id: word } }
  const isThere = await exists(() => gateway.call((routes) => routes.GET('/v1/models/{id}', { params })))
  return isThere ? `/models/${encodeURIComponent(word)}` : null
}

/** A key that must not read one kind of thing may mean another. */
async function exists(read: () => Promise<unknown>): Promise<boolean> {
  try {
    await read()
    return true
  } catch (error) {
    if (error instanceof ApiFailure && [400, 403, 404].includes(error.status)) return false
    throw error
  }
}
