import { expect } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import type { TestGateway } from '../../support/start-test-gateway.ts'
import { waitForTask } from '../../generation/wait-for-task.ts'
import { signIn } from '../../sessions/sign-in.ts'
import { joinWithPasskey } from '../../passkeys/passkey-person.ts'
import { insertIdentity } from '../../directory/insert-identity.ts'
import { signInTool } from '../../grants/sign-in-tool.ts'
import { createProject, joinAccount } from '../join-account.ts'

/** Where things are made: a project of an account. */
export interface Side {
  readonly gateway: TestGateway
  /** Manages the account. */
  readonly accountKey: string
  /** Of the account itself, and only of the project. */
  readonly projectKey: string
  readonly projectId: string
  /** Ids by what they are of: see `idsIn`. */
  readonly things: Readonly<Record<string, string>>
}

interface SideOrder {
  readonly gateway: TestGateway
  readonly accountKey: string
  /** Makes e-mail addresses and names unique. */
  readonly name: string
}

/** Makes one of each kind of thing in a new project, and what belongs to the account beside it. */
export async function makeSide({ gateway, accountKey, name }: SideOrder): Promise<Side> {
  const make = maker(gateway, accountKey)
  const projectId = await createProject(gateway, name, accountKey)
  const key = await make('/v1/tenants/me/api-keys', {
    name,
    project_id: projectId,
    scopes: ['inference', 'manage'],
  })
  const projectKey = String(key['key'])
  const side = { gateway, accountKey, projectKey, projectId, things: {} }
  const things = {
    project: projectId,
    apiKey: String(key['id']),
    ...(await makePeople(side, name)),
    ...(await makeBudgets(side)),
    ...(await makeAnswers(side)),
    ...(await makeComparisons(side)),
  }
  return { ...side, things }
}

type Made = Readonly<Record<string, unknown>>

function maker(gateway: TestGateway, key: string) {
  return async (path: string, body: object): Promise<Made> => {
    const answer = await gateway.request('POST', path, { key, body })
    expect([path, answer.status < 300, answer.body]).toEqual([path, true, answer.body])
    return answer.body
  }
}

/** Only what was paid has a receipt. */
async function pay(gateway: TestGateway, key: string): Promise<string> {
  const checkout = await maker(gateway, key)('/v1/payments/checkout', { amount_usd: 5 })
  const paid = await fetch(`${String(checkout['url'])}/pay`, { method: 'POST', redirect: 'manual' })
  expect(paid.status).toBe(303)
  return idOf(checkout)
}

const idOf = (made: Made): string => String(made['id'])

async function makePeople({ gateway, accountKey, projectId }: Side, name: string) {
  const make = maker(gateway, accountKey)
  const at = `/v1/organization/projects/${projectId}`
  const user = await joinAccount(gateway, {
    email: `${name}@example.com`,
    projects: [{ id: projectId, role: 'member' }],
    key: accountKey,
  })
  const group = idOf(await make('/v1/organization/groups', { name }))
  await make(`/v1/organization/groups/${group}/users`, { user_id: user.id })
  await make(`${at}/groups`, { group_id: group, role: 'viewer' })
  const permissions = ['usage.read']
  const role = idOf(await make('/v1/organization/roles', { role_name: name, permissions }))
  const projectRole = idOf(await make(`/v1/projects/${projectId}/roles`, { role_name: name, permissions }))
  for (const holder of [`users/${user.id}`, `groups/${group}`]) {
    await make(`/v1/organization/${holder}/roles`, { role_id: role })
    await make(`/v1/projects/${projectId}/${holder}/roles`, { role_id: projectRole })
  }
  const { browser } = await joinWithPasskey(gateway, {
    email: `passkey-${name}@example.com`,
    key: accountKey,
  })
  const { body: passkeys } = await browser.ask('GET', '/v1/passkeys')
  const invited = { email: `invited-${name}@example.com`, role: 'reader' }
  const settings = { group_id: group, settings: { model: name } }
  const serviceAccount = idOf(await make(`${at}/service_accounts`, { name }))
  const file = idOf(await make('/v1/files', { purpose: 'batch', file: 'SGVsbG8=' }))
  const trusted = {
    name,
    issuer: 'https://ci.example.com',
    audience: 'here',
    rules: [{ claims: { sub: name }, service_account_id: serviceAccount }],
  }
  return {
    user: user.id,
    grant: (await signInTool(gateway, user, projectId)).grantId,
    group,
    uploadedFile: file,
    upload: idOf(
      await make('/v1/uploads', { purpose: 'evals', filename: 'x', bytes: 5, mime_type: 'text/plain' }),
    ),
    batch: idOf(
      await make('/v1/batches', {
        input_file_id: file,
        endpoint: '/v1/embeddings',
        completion_window: '24h',
      }),
    ),
    messageBatch: idOf(await make('/v1/messages/batches', { requests: [{ custom_id: 'one', params: {} }] })),
    savedChat: idOf(await make('/v1/saved-chats', { name: 'mine', content: { messages: [] } })),
    managedSettings: idOf(await make('/v1/organization/managed_settings', settings)),
    role,
    projectRole,
    identity: await insertIdentity(gateway, user.id, `of ${name}`),
    passkey: String(passkeys.data[0].id),
    invite: idOf(await make('/v1/organization/invites', invited)),
    serviceAccount,
    trustedIssuer: idOf(await make(`${at}/trusted_issuers`, trusted)),
    scimToken: idOf(await make('/v1/organization/scim_tokens', { name })),
    adminKey: idOf(await make('/v1/organization/admin_api_keys', { name })),
  }
}

export const NEXT_MONTH = new Date(Date.now() + 30 * 86_400_000).toISOString()

async function makeBudgets({ gateway, accountKey, projectId }: Side) {
  const make = maker(gateway, accountKey)
  const subject = { type: 'project', id: projectId }
  const budget = idOf(
    await make('/v1/organization/budgets', { subject, window: 'week', limit_usd: 500, is_hard: true }),
  )
  await make(`/v1/organization/budgets/${budget}/raise`, { amount_usd: 5, until: NEXT_MONTH })
  const asked = { budget_id: budget, amount_usd: 2, until: NEXT_MONTH, reason: 'More.' }
  const alert = {
    threshold_amount: 100,
    currency: 'USD',
    interval: 'month',
    notification_channel: { type: 'email', recipients: ['ada@example.com'] },
  }
  const spend = { threshold_amount: 50_000, currency: 'USD', interval: 'month' }
  const at = `/v1/organization/projects/${projectId}`
  await make(`${at}/spend_limit`, spend)
  return {
    budget,
    budgetRequest: idOf(await make('/v1/organization/budget_requests', asked)),
    alert: idOf(await make('/v1/organization/spend_alerts', alert)),
    projectAlert: idOf(await make(`${at}/spend_alerts`, alert)),
  }
}

async function makeAnswers({ gateway, projectKey }: Side) {
  const make = maker(gateway, projectKey)
  await gateway.request('PATCH', '/v1/body-storage', { body: { enabled: true } })
  const asked = await gateway.request('POST', '/v1/chat/completions', {
    key: projectKey,
    body: { model: 'gpt-5.4-mini', messages: [{ role: 'user', content: 'Mine' }], max_tokens: 5 },
  })
  expect(asked.status).toBe(200)
  const conversation = idOf(await make('/v1/conversations', {}))
  const item = { type: 'message', role: 'user', content: 'Mine' }
  const items = await make(`/v1/conversations/${conversation}/items`, { items: [item] })
  const [made] = items['data'] as Made[]
  return {
    request: asked.headers.get('x-request-id') ?? '',
    conversation,
    item: idOf(made ?? {}),
    response: idOf(await make('/v1/responses', { model: 'gpt-5.4-mini', input: 'Mine' })),
  }
}

async function makeComparisons({ gateway, projectKey }: Side) {
  const make = maker(gateway, projectKey)
  const models = ['gpt-4o-mini', 'gpt-5.4']
  const run = idOf(await make('/v1/compare/runs', { prompt: 'Mine', models }))
  const lane = await eventually(async () => {
    const { body } = await gateway.request('GET', `/v1/compare/runs/${run}`, { key: projectKey })
    expect(body.status).toBe('completed')
    return String(body.lanes[0].id)
  })
  return {
    run,
    lane,
    dataset: idOf(await make('/v1/compare/datasets', { name: 'Mine', prompts: ['Hi'] })),
    compareConversation: idOf(await make('/v1/compare/conversations', { models })),
  }
}

interface WorkOrder {
  readonly hubId: string
  readonly hookUrl: string
}

/** Makes what takes machines or time. */
export async function makeWork({ gateway, accountKey, projectKey }: Side, order: WorkOrder) {
  const make = maker(gateway, projectKey)
  const picture = { model: 'flux-schnell', prompt: 'Mine', webhook_url: order.hookUrl }
  const task = String((await make('/v1/images/generations', picture))['task_id'])
  const { result } = await waitForTask(gateway, task, projectKey)
  const delivery = await eventually(async () => {
    const at = `/v1/tasks/${task}/webhook-deliveries`
    const { body } = await gateway.request('GET', at, { key: projectKey })
    expect(body.data[0].attempts).toHaveLength(1)
    return String(body.data[0].id)
  })
  await make('/v1/deployments/prefetch', { huggingface_id: order.hubId })
  const deployed = { huggingface_id: order.hubId, gpu_tier: 'l40s_48gb' }
  const deployment = idOf(await make('/v1/deployments', deployed))
  await eventually(async () => {
    const { body } = await gateway.request('GET', `/v1/deployments/${deployment}`, { key: projectKey })
    expect(body.status).toBe('running')
  })
  return {
    task,
    delivery,
    file: String(result.data[0].url),
    deployment,
    payment: await pay(gateway, accountKey),
    session: (await signIn(gateway, projectKey)).id,
  }
}
