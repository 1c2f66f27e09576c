import { NEXT_MONTH } from './make-things.ts'

type Things = Readonly<Record<string, string>>

interface Reference {
  /** Method and path, with ids of the asker. */
  readonly operation: string
  readonly body?: object
  readonly isOfAccount?: true
  /** The statuses that refuse it. Usually 404. */
  readonly refused?: readonly number[]
}

const CHAT = '/v1/chat/completions'
const limit = { window: 'month', limit_usd: 1 }
const ORG = '/v1/organization'

/** Requests that name a foreign thing in their body or query instead of their path. */
export const REFERENCES: Readonly<Record<string, (foreign: Things, own: Things) => Reference>> = {
  'a key is not made in a foreign project': ({ project }) => ({
    operation: 'POST /v1/tenants/me/api-keys',
    body: { name: 'x', project_id: project },
    // A key of a project makes keys of its project only.
    refused: [404, 403],
  }),
  'the storage of bodies of a foreign key is not changed': ({ apiKey }) => ({
    operation: 'PATCH /v1/body-storage',
    body: { enabled: false, key_id: apiKey },
    isOfAccount: true,
  }),
  ...Object.fromEntries(
    ['project', 'group', 'user', 'serviceAccount', 'apiKey'].map((thing) => [
      `a foreign ${thing} gets no budget`,
      (foreign: Things): Reference => ({
        operation: `POST ${ORG}/budgets`,
        body: { subject: { type: SUBJECTS[thing], id: foreign[thing] }, ...limit },
        // Of people and groups a key of a project sets no budgets at all.
        refused: thing === 'user' || thing === 'group' ? [404, 403] : [404],
      }),
    ]),
  ),
  'more of a foreign budget is not asked for': ({ budget }) => ({
    operation: `POST ${ORG}/budget_requests`,
    body: { budget_id: budget, amount_usd: 1, until: NEXT_MONTH, reason: 'x' },
  }),
  'an invitation does not lead to a foreign project': ({ project }) => ({
    operation: `POST ${ORG}/invites`,
    body: { email: 'x@example.com', role: 'reader', projects: [{ id: project, role: 'owner' }] },
    isOfAccount: true,
  }),
  'a foreign person does not come into a group': ({ user }, { group }) => ({
    operation: `POST ${ORG}/groups/${group}/users`,
    body: { user_id: user },
    isOfAccount: true,
  }),
  'a foreign role is not given to a person': ({ role }, { user }) => ({
    operation: `POST ${ORG}/users/${user}/roles`,
    body: { role_id: role },
    isOfAccount: true,
  }),
  'a foreign role is not given to a group': ({ role }, { group }) => ({
    operation: `POST ${ORG}/groups/${group}/roles`,
    body: { role_id: role },
    isOfAccount: true,
  }),
  'a foreign role is not set for a person': ({ role }, { user }) => ({
    operation: `POST ${ORG}/users/${user}`,
    body: { role_id: role },
    isOfAccount: true,
    // Nobody's role is set in this way.
    refused: [400],
  }),
  'a role of a foreign project is not given to a person': ({ projectRole }, { project, user }) => ({
    operation: `POST /v1/projects/${project}/users/${user}/roles`,
    body: { role_id: projectRole },
  }),
  'a role of a foreign project is not given to a group': ({ projectRole }, { project, group }) => ({
    operation: `POST /v1/projects/${project}/groups/${group}/roles`,
    body: { role_id: projectRole },
  }),
  'a foreign response is not continued': ({ response }) => ({
    operation: 'POST /v1/responses',
    body: { model: 'gpt-5.4-mini', input: 'x', previous_response_id: response },
    // As with OpenAI: 400 `previous_response_not_found`.
    refused: [400],
  }),
  'a foreign conversation is not continued': ({ conversation }) => ({
    operation: 'POST /v1/responses',
    body: { model: 'gpt-5.4-mini', input: 'x', conversation },
  }),
  'the tokens of a foreign response are not counted': ({ response }) => ({
    operation: 'POST /v1/responses/input_tokens',
    body: { model: 'gpt-5.4-mini', input: 'x', previous_response_id: response },
    refused: [400],
  }),
  'a foreign dataset is not asked': ({ dataset }) => ({
    operation: 'POST /v1/compare/runs',
    body: { models: ['gpt-4o-mini', 'gpt-5.4'], dataset_id: dataset },
  }),
  'a run is not compared with a foreign one': ({ run }, own) => ({
    operation: `GET /v1/compare/runs/${own['run']}/diff?against=${run}`,
    // `against`: there is no such run.
    refused: [400],
  }),
  'a foreign deployment is no model': ({ deployment }) => ({
    operation: `POST ${CHAT}`,
    body: { model: `byom-${deployment}`, messages: [{ role: 'user', content: 'x' }] },
  }),
  'a foreign file is not read': ({ file }) => ({
    operation: `POST ${CHAT}`,
    body: {
      model: 'gpt-5.4-mini',
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: file } }] }],
    },
    refused: [400, 404],
  }),
}

const SUBJECTS: Readonly<Record<string, string>> = {
  project: 'project',
  group: 'group',
  user: 'user',
  serviceAccount: 'service_account',
  apiKey: 'key',
}
