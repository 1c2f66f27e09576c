import { Type, type Static } from 'typebox'
import { AppError, invalidValue, notFound } from '../../../kernel/app-error.ts'
import type { Catalog } from '../../../modules/catalog/catalog.ts'
import type { Limits } from '../../../modules/limits/limits.ts'
import { mayUseModel, type ModelLimits, type Projects } from '../../../modules/projects/projects.ts'
import { nullable } from '../../../wires/nullable.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { PAGE_LIMIT_DEFAULT } from '../../answers/list-page.ts'
import { inAccount, inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { listOf, organizationList, OrganizationListQuery } from './organization-list.ts'
import { managedProject, ownProject, ProjectParams } from './own-project.ts'

/** Limited so that a level in sixty-thousandths of a unit fits its column. Also stands for no limit. */
const UNITS_MAX = 100_000_000_000_000
const MEGABYTES_MAX = 100_000_000
const ID_PREFIX = 'rl-'
const IMAGE_CATEGORIES: ReadonlySet<string> = new Set(['image', 'upscale', 'bg_remove'])

const LimitAnswer = Type.Object(
  {
    object: objectName('project.rate_limit'),
    id: Type.String({ description: '`rl-` and the id of the model.' }),
    model: Type.String({ description: 'The id of the model.' }),
    max_requests_per_1_minute: Type.Integer({
      description:
        'Requests a minute: those of the project, or what each key may send by the tier of the account.',
    }),
    max_tokens_per_1_minute: Type.Integer({ description: 'Tokens a minute, likewise.' }),
    max_images_per_1_minute: Type.Optional(
      Type.Integer({ description: 'Images a minute, if it makes images.' }),
    ),
    max_audio_megabytes_per_1_minute: Type.Optional(
      Type.Integer({ description: 'Megabytes of recordings a minute, if a limit is set.' }),
    ),
    max_requests_per_1_day: Type.Optional(
      Type.Integer({ description: 'Requests a day of UTC, if a limit is set.' }),
    ),
  },
  { title: 'ProjectRateLimit' },
)

const limit = (description: string, maximum = UNITS_MAX) =>
  nullable(Type.Integer({ minimum: 1, maximum }), `${description} Null: only what the account may.`)

const LimitBody = Type.Object(
  {
    max_requests_per_1_minute: limit('Requests a minute.'),
    max_tokens_per_1_minute: limit('Tokens a minute, of prompts and answers.'),
    max_images_per_1_minute: limit('Images a minute, for models that make images.'),
    max_audio_megabytes_per_1_minute: limit(
      'Megabytes of recordings a minute, for models that hear.',
      MEGABYTES_MAX,
    ),
    max_requests_per_1_day: limit('Requests a day, of UTC.'),
    batch_1_day_max_input_tokens: nullable(Type.Integer(), 'Only null: it would not be honoured here.'),
  },
  {
    additionalProperties: false,
    examples: [{ max_requests_per_1_minute: 600, max_requests_per_1_day: 50_000 }],
  },
)

const LimitsQuery = Type.Object({
  ...OrganizationListQuery.properties,
  before: Type.Optional(
    Type.String({ maxLength: 512, description: 'The id of an entry; the page right before it follows.' }),
  ),
})
const LimitParams = Type.Object({
  ...ProjectParams.properties,
  rate_limit_id: Type.String({ maxLength: 512, description: '`rl-` and the id of a model.' }),
})

const AT = '/v1/organization/projects/:project_id/rate_limits'

interface RateLimitParts {
  readonly projects: Projects
  readonly limits: Pick<Limits, 'describeAccount'>
  readonly catalog: Pick<Catalog, 'generation' | 'resolve'>
}

export const projectRateLimitRoutes = ({ projects, limits, catalog }: RateLimitParts): Route[] => [
  defineRoute({
    tag: 'Organization',
    access: inProject('organization.read'),
    method: 'GET',
    path: AT,
    summary: 'List the rate limits of a project',
    params: ProjectParams,
    query: LimitsQuery,
    responses: {
      200: {
        description: 'One entry for every model that the project may use, in the order of the catalog.',
        schema: organizationList('ProjectRateLimitList', LimitAnswer),
      },
    },
    handle: async ({ caller, params, query }) => {
      const place = { caller, projectId: ownProject(caller, params.project_id) }
      const { mode, modelIds } = await projects.modelPermissions.read(caller.accountId, place.projectId)
      const project = { models: { mode, modelIds: new Set(modelIds) }, rates: null }
      const all = await projects.rateLimits.list(place)
      const tier = await limits.describeAccount(caller.accountId)
      const usable = all.filter(({ model }) => mayUseModel(catalog, { project }, model))
      return listOf(pageOf(usable, query), (one) => limitToWire(one, tier))
    },
  }),
  defineRoute({
    tag: 'Organization',
    access: inAccount('projects.manage'),
    method: 'POST',
    path: `${AT}/:rate_limit_id`,
    summary: 'Change a rate limit of a project',
    params: LimitParams,
    body: LimitBody,
    responses: {
      200: { description: 'It holds for all keys of the project together from now on.', schema: LimitAnswer },
    },
    handle: async ({ caller, params, body }) => {
      const place = { caller, projectId: managedProject(caller, params.project_id) }
      if (!params.rate_limit_id.startsWith(ID_PREFIX)) throw notFound('rate limit')
      const modelId = params.rate_limit_id.slice(ID_PREFIX.length)
      refuseWithoutMeaning(catalog.resolve(modelId)?.category, body)
      const changed = await projects.rateLimits.change(place, modelId, parseChanges(body))
      return limitToWire(changed, await limits.describeAccount(caller.accountId))
    },
  }),
]

function parseChanges(body: Static<typeof LimitBody>): Parameters<Projects['rateLimits']['change']>[2] {
  const { max_requests_per_1_minute: requests, max_tokens_per_1_minute: tokens } = body
  const { max_images_per_1_minute: images, max_audio_megabytes_per_1_minute: audio } = body
  const { max_requests_per_1_day: day } = body
  return {
    ...(requests !== undefined && { requestsPerMinute: requests }),
    ...(tokens !== undefined && { tokensPerMinute: tokens }),
    ...(images !== undefined && { imagesPerMinute: images }),
    ...(audio !== undefined && { audioMegabytesPerMinute: audio }),
    ...(day !== undefined && { requestsPerDay: day }),
  }
}

/** A limit that would limit nothing is refused. */
function refuseWithoutMeaning(category: string | undefined, body: Static<typeof LimitBody>): void {
  const params = [
    ['batch_1_day_max_input_tokens', false],
    ['max_images_per_1_minute', IMAGE_CATEGORIES.has(category ?? '')],
    ['max_audio_megabytes_per_1_minute', category === 'stt'],
  ] as const
  for (const [param, hasMeaning] of params) {
    if (hasMeaning || typeof body[param] !== 'number') continue
    throw new AppError('unsupported_parameter', `'${param}' would not be honoured for this model.`, { param })
  }
}

function pageOf(
  all: readonly ModelLimits[],
  { limit: most = PAGE_LIMIT_DEFAULT, after, before }: Static<typeof LimitsQuery>,
): { items: readonly ModelLimits[]; hasMore: boolean } {
  const indexOf = (name: 'after' | 'before', id: string): number => {
    const index = all.findIndex(({ model }) => ID_PREFIX + model.id === id)
    if (index < 0) throw invalidValue(name, `${name} must come from another page.`)
    return index
  }
  const start = after === undefined ? 0 : indexOf('after', after) + 1
  const end = before === undefined ? all.length : indexOf('before', before)
  const part = all.slice(start, end)
  const isBackwards = before !== undefined && after === undefined
  return { items: isBackwards ? part.slice(-most) : part.slice(0, most), hasMore: part.length > most }
}

function limitToWire(
  { model, own }: ModelLimits,
  tier: { requestsPerMinute: number | null; tokensPerMinute: number | null },
): Static<typeof LimitAnswer> {
  const requests = own.requestsPerMinute ?? tier.requestsPerMinute ?? UNITS_MAX
  const { imagesPerMinute: images, audioMegabytesPerMinute: audio, requestsPerDay: day } = own
  return {
    object: 'project.rate_limit',
    id: ID_PREFIX + model.id,
    model: model.id,
    max_requests_per_1_minute: requests,
    max_tokens_per_1_minute: own.tokensPerMinute ?? tier.tokensPerMinute ?? UNITS_MAX,
    ...(IMAGE_CATEGORIES.has(model.category) && { max_images_per_1_minute: images ?? requests }),
    ...(audio !== null && { max_audio_megabytes_per_1_minute: audio }),
    ...(day !== null && { max_requests_per_1_day: day }),
  }
}
