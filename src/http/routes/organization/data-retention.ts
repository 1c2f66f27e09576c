import { Type, type Static } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import { nameRetention, type DataRetention } from '../../../modules/request-log/request-log.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { inAccount, inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { managedProject, ownProject, ProjectParams } from './own-project.ts'

/** Those of OpenAI. Only two of each owner mean something here; the others are refused, because they would promise what nobody does. */
const OF_ACCOUNT = [
  'zero_data_retention',
  'modified_abuse_monitoring',
  'enhanced_zero_data_retention',
  'enhanced_modified_abuse_monitoring',
] as const
const OF_PROJECT = ['organization_default', 'none', ...OF_ACCOUNT] as const

const MEANING =
  '`zero_data_retention`: prompts and answers are not stored. `modified_abuse_monitoring`: what somebody asked to store is stored.'
const MEANING_OF_PROJECT =
  '`zero_data_retention`: prompts and answers of the project are not stored. `organization_default`: as for the account.'

const accountAnswer = Type.Object(
  {
    object: objectName('organization.data_retention'),
    type: Type.Enum(['zero_data_retention', 'modified_abuse_monitoring'], { description: MEANING }),
  },
  { title: 'OrganizationDataRetention' },
)
const projectAnswer = Type.Object(
  {
    object: objectName('project.data_retention'),
    type: Type.Enum(['organization_default', 'zero_data_retention'], { description: MEANING_OF_PROJECT }),
  },
  { title: 'ProjectDataRetention' },
)

const AccountBody = Type.Object(
  { retention_type: Type.Enum([...OF_ACCOUNT], { description: `${MEANING} The others are refused.` }) },
  { additionalProperties: false, examples: [{ retention_type: 'zero_data_retention' }] },
)
const ProjectBody = Type.Object(
  {
    retention_type: Type.Enum([...OF_PROJECT], {
      description: `${MEANING_OF_PROJECT} The others are refused.`,
    }),
  },
  { additionalProperties: false, examples: [{ retention_type: 'zero_data_retention' }] },
)

const OF_ACCOUNT_AT = { tag: 'Organization', path: '/v1/organization/data_retention' } as const
const OF_PROJECT_AT = {
  tag: 'Organization',
  path: '/v1/organization/projects/:project_id/data_retention',
  params: ProjectParams,
} as const

export const dataRetentionRoutes = ({ dataRetention }: { dataRetention: DataRetention }): Route[] => [
  ...accountRoutes(dataRetention),
  ...projectRoutes(dataRetention),
]

function accountRoutes(dataRetention: DataRetention): Route[] {
  const tell = async ({ accountId }: Caller): Promise<Static<typeof accountAnswer>> => ({
    object: 'organization.data_retention',
    type: (await dataRetention.isZero(accountId, null)) ? 'zero_data_retention' : 'modified_abuse_monitoring',
  })
  return [
    defineRoute({
      ...OF_ACCOUNT_AT,
      method: 'GET',
      access: inAccount('organization.read'),
      summary: 'Read the data retention of the account',
      responses: { 200: { description: 'What may be stored.', schema: accountAnswer } },
      handle: ({ caller }) => tell(caller),
    }),
    defineRoute({
      ...OF_ACCOUNT_AT,
      method: 'POST',
      access: inAccount('projects.manage'),
      summary: 'Set the data retention of the account',
      body: AccountBody,
      responses: { 200: { description: 'It holds in every process from now on.', schema: accountAnswer } },
      handle: async ({ caller, body }) => {
        await dataRetention.set(caller, null, readIsZero(null, body.retention_type))
        return tell(caller)
      },
    }),
  ]
}

function projectRoutes(dataRetention: DataRetention): Route[] {
  const tell = async (accountId: string, projectId: string): Promise<Static<typeof projectAnswer>> => ({
    object: 'project.data_retention',
    type: (await dataRetention.isZero(accountId, projectId)) ? 'zero_data_retention' : 'organization_default',
  })
  return [
    defineRoute({
      ...OF_PROJECT_AT,
      method: 'GET',
      access: inProject('organization.read'),
      summary: 'Read the data retention of a project',
      responses: { 200: { description: 'What may be stored.', schema: projectAnswer } },
      handle: ({ caller, params }) => tell(caller.accountId, ownProject(caller, params.project_id)),
    }),
    defineRoute({
      ...OF_PROJECT_AT,
      method: 'POST',
      access: inAccount('projects.manage'),
      summary: 'Set the data retention of a project',
      body: ProjectBody,
      responses: { 200: { description: 'It holds in every process from now on.', schema: projectAnswer } },
      handle: async ({ caller, params, body }) => {
        const projectId = managedProject(caller, params.project_id)
        await dataRetention.set(caller, projectId, readIsZero(projectId, body.retention_type))
        return tell(caller.accountId, projectId)
      },
    }),
  ]
}

/** A project can be stricter than its account and not less strict. */
function readIsZero(projectId: string | null, type: (typeof OF_PROJECT)[number]): boolean {
  if (type === 'zero_data_retention') return true
  const usual = nameRetention(projectId, false)
  if (type === usual) return false
  const owner = projectId === null ? 'An account' : 'A project'
  throw invalidValue('retention_type', `${owner} of this gateway has '${usual}' or 'zero_data_retention'.`)
}
